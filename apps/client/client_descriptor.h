// ClientDescriptor: a descriptor that is closed with its owner.
#ifndef DOGGED_APPS_CLIENT_CLIENT_DESCRIPTOR_H_
#define DOGGED_APPS_CLIENT_CLIENT_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace dogged {

class ClientDescriptor {
 public:
  explicit ClientDescriptor(int number = -1) : number_(number) {}
  ~ClientDescriptor() {
    if (number_ >= 0) close(number_);
  }
  ClientDescriptor(ClientDescriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)) {}
  ClientDescriptor& operator=(ClientDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_CLIENT_DESCRIPTOR_H_
