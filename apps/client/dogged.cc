#include "apps/client/dogged.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "apps/client/client_error.h"
#include "apps/client/client_job.h"
#include "apps/client/client_program.h"
#include "apps/client/client_session.h"
#include "apps/client/client_values.h"
#include "apps/client/handle_table.h"
#include "apps/client/lent_memory.h"

namespace dogged {
namespace {

HandleTable& Handles() { return HandleTable::OfThisProcess(); }

// The call's status; its error is kept for dogged_last_error(). Nothing is
// thrown into C.
template <typename Call>
int Status(const Call& call) {
  ClientError error;
  try {
    error = call();
  } catch (const std::bad_alloc&) {
    error = {.status = DOGGED_NO_ROOM, .message = "this process has no memory"};
  } catch (const std::exception& caught) {
    // For one, no thread could be started.
    error = {.status = DOGGED_NO_ROOM, .message = caught.what()};
  }
  return LastError::OfThisThread().Keep(std::move(error));
}

ClientError Null(const char* name) {
  return ErrorOf(DOGGED_MISUSED, std::string(name) + " is NULL");
}

// Runs `use` with the object of the handle.
template <typename T, typename Use>
int With(HandleKind kind, const void* handle, const Use& use) {
  return Status([&] {
    std::shared_ptr<T> object;
    ClientError error = Handles().Find(kind, handle, object);
    return error.ok() ? use(object) : error;
  });
}

template <typename Use>
int WithJob(dogged_job* handle, const Use& use) {
  return With<ClientJob>(
      HandleKind::kJob, handle,
      [&](const std::shared_ptr<ClientJob>& job) { return use(*job); });
}

template <typename Use>
int WithProgram(dogged_program* handle, const Use& use) {
  return With<ClientProgram>(
      HandleKind::kProgram, handle,
      [&](const std::shared_ptr<ClientProgram>& program) {
        return use(*program);
      });
}

ClientError ParametersOf(dogged_parameters parameters, nlohmann::json& out) {
  out = nlohmann::json::object();
  if (parameters == nullptr) return {};
  for (; parameters->name != nullptr; ++parameters) {
    if (parameters->value == nullptr) {
      return ErrorOf(DOGGED_MISUSED, std::string("parameter ") +
                                         parameters->name +
                                         " has NULL as its value");
    }
    out[parameters->name] = parameters->value;
  }
  return {};
}

ClientError MakeProgram(const std::shared_ptr<ClientSession>& session,
                        ClientProgram::Source source,
                        dogged_parameters parameters, dogged_program** out) {
  ClientError error = ParametersOf(parameters, source.parameters);
  if (!error.ok()) return error;
  const auto program =
      std::make_shared<ClientProgram>(session, std::move(source));
  error = program->Check();
  if (error.ok()) {
    *out = static_cast<dogged_program*>(
        Handles().Add(HandleKind::kProgram, program));
  }
  return error;
}

// Bytes; a device may have no end.
constexpr size_t kTextMax = size_t{32} << 20;

// fclose's own type has attributes that a template argument can't keep.
struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};

ClientError ReadText(const char* path, ClientProgram::Source& out) {
  const std::unique_ptr<FILE, CloseFile> file(fopen(path, "rb"));
  char part[1 << 12];
  size_t size = file == nullptr ? 0 : 1;
  while (size > 0 && out.text.size() <= kTextMax) {
    size = fread(part, 1, sizeof(part), file.get());
    out.text.append(part, size);
  }
  if (out.text.size() > kTextMax) {
    return ErrorOf(DOGGED_MISTYPED,
                   std::string(path) + ": too long for a program");
  }
  if (file == nullptr || ferror(file.get()) != 0) {
    return ErrorOf(DOGGED_MISTYPED,
                   std::string(path) + ": " + std::strerror(errno));
  }
  // The client process may have another current folder, later on.
  const std::unique_ptr<char, decltype(&free)> whole(realpath(path, nullptr),
                                                     &free);
  out.file = whole == nullptr ? path : whole.get();
  return {};
}

}  // namespace
}  // namespace dogged

using dogged::ClientError;
using dogged::ClientJob;
using dogged::ClientProgram;
using dogged::ClientSession;
using dogged::ErrorOf;
using dogged::HandleKind;
using dogged::Handles;
using dogged::LentMemory;
using dogged::Null;
using dogged::Status;

const dogged_error* dogged_last_error(void) {
  return &dogged::LastError::OfThisThread().shown();
}

int dogged_open(int abi, const dogged_options* options, dogged_session** out) {
  return Status([&]() -> ClientError {
    if (out == nullptr) return Null("out");
    *out = nullptr;
    if (abi != DOGGED_ABI) {
      return ErrorOf(DOGGED_WRONG_ABI,
                     "this process was compiled with dogged.h of ABI " +
                         std::to_string(abi) + ", and this libdogged has ABI " +
                         std::to_string(DOGGED_ABI) +
                         ": compile it anew, or load libdogged.so." +
                         std::to_string(abi));
    }
    const auto session = std::make_shared<ClientSession>();
    ClientError error =
        session->Open(options == nullptr ? dogged_options{} : *options);
    if (error.ok()) {
      *out = static_cast<dogged_session*>(
          Handles().Add(HandleKind::kSession, session));
    }
    return error;
  });
}

int dogged_close(dogged_session* session) {
  return Status([&] {
    std::shared_ptr<ClientSession> taken;
    ClientError error = Handles().Take(HandleKind::kSession, session, taken);
    if (error.ok()) taken->Close();
    return error;
  });
}

int dogged_start(dogged_session* session, int agents) {
  return dogged::With<ClientSession>(
      HandleKind::kSession, session,
      [&](const std::shared_ptr<ClientSession>& found) {
        dogged::ClientWire::Reply reply;
        return found->Ask({{"do", "start"}, {"agents", agents}}, {}, reply);
      });
}

int dogged_status(dogged_session* session, char** json) {
  return dogged::With<ClientSession>(
      HandleKind::kSession, session,
      [&](const std::shared_ptr<ClientSession>& found) {
        if (json == nullptr) return Null("json");
        *json = nullptr;
        dogged::ClientWire::Reply reply;
        ClientError error = found->Ask({{"do", "status"}}, {}, reply);
        if (!error.ok()) return error;
        reply.fields.erase("id");
        const auto text =
            std::make_shared<std::string>(dogged::JsonLine(reply.fields));
        *json = text->data();
        Handles().AddMemory(HandleKind::kText, *json, text);
        return error;
      });
}

int dogged_program_text(dogged_session* session, const char* text,
                        const char* name, dogged_parameters parameters,
                        dogged_program** out) {
  return dogged::With<ClientSession>(
      HandleKind::kSession, session,
      [&](const std::shared_ptr<ClientSession>& found) {
        if (out == nullptr) return Null("out");
        *out = nullptr;
        if (text == nullptr) return Null("text");
        return dogged::MakeProgram(
            found, {.text = text, .file = name == nullptr ? "" : name},
            parameters, out);
      });
}

int dogged_program_file(dogged_session* session, const char* path,
                        dogged_parameters parameters, dogged_program** out) {
  return dogged::With<ClientSession>(
      HandleKind::kSession, session,
      [&](const std::shared_ptr<ClientSession>& found) {
        if (out == nullptr) return Null("out");
        *out = nullptr;
        if (path == nullptr) return Null("path");
        ClientProgram::Source source;
        ClientError error = dogged::ReadText(path, source);
        if (!error.ok()) return error;
        return dogged::MakeProgram(found, std::move(source), parameters, out);
      });
}

int dogged_program_want(dogged_program* program, const char* labels) {
  return dogged::WithProgram(program, [&](ClientProgram& found) {
    return labels == nullptr ? Null("labels") : found.Want(labels);
  });
}

int dogged_program_free(dogged_program* program) {
  return Status([&] {
    std::shared_ptr<ClientProgram> taken;
    return Handles().Take(HandleKind::kProgram, program, taken);
  });
}

int dogged_program_input(dogged_program* program, size_t index,
                         dogged_array* out) {
  return dogged::WithProgram(program, [&](ClientProgram& found) {
    return out == nullptr ? Null("out") : found.Input(index, *out);
  });
}

int dogged_program_result(dogged_program* program, size_t index,
                          const char** name) {
  return dogged::WithProgram(program, [&](ClientProgram& found) {
    return name == nullptr ? Null("name") : found.Result(index, *name);
  });
}

int dogged_program_facts(dogged_program* program, const char** json) {
  return dogged::WithProgram(program, [&](ClientProgram& found) {
    if (json == nullptr) return Null("json");
    *json = found.facts();
    return ClientError{};
  });
}

int dogged_alloc(size_t bytes, void** out) {
  return Status([&] {
    if (out == nullptr) return Null("out");
    *out = nullptr;
    std::shared_ptr<LentMemory> memory;
    ClientError error = LentMemory::Make(bytes == 0 ? 1 : bytes, memory);
    if (!error.ok()) return error;
    Handles().AddMemory(HandleKind::kMemory, memory->data(), memory);
    *out = memory->data();
    return error;
  });
}

int dogged_release(void* memory) {
  return Status([&]() -> ClientError {
    if (memory == nullptr) return {};
    std::shared_ptr<void> taken;
    return Handles().Take(HandleKind::kMemory, memory, taken);
  });
}

int dogged_submit(dogged_program* program, const dogged_submission* submission,
                  dogged_job** out) {
  return dogged::WithProgram(program, [&](ClientProgram& found) {
    if (out == nullptr) return Null("out");
    *out = nullptr;
    const dogged_submission how =
        submission == nullptr ? dogged_submission{} : *submission;
    if (how.input_count > 0 && how.inputs == nullptr) return Null("inputs");
    std::shared_ptr<ClientJob> job;
    ClientError error = found.Submit(how, job);
    if (error.ok()) {
      *out = static_cast<dogged_job*>(Handles().Add(HandleKind::kJob, job));
    }
    return error;
  });
}

int dogged_job_hash(dogged_job* job, const char** hash) {
  return dogged::WithJob(job, [&](ClientJob& found) {
    if (hash == nullptr) return Null("hash");
    *hash = found.hash().c_str();
    return ClientError{};
  });
}

int dogged_wait(dogged_job* job, double seconds) {
  return dogged::WithJob(job,
                         [&](ClientJob& found) { return found.Wait(seconds); });
}

int dogged_cancel(dogged_job* job) {
  return dogged::WithJob(job, [](ClientJob& found) { return found.Cancel(); });
}

int dogged_job_free(dogged_job* job) {
  return Status([&] {
    std::shared_ptr<ClientJob> taken;
    ClientError error = Handles().Take(HandleKind::kJob, job, taken);
    if (error.ok()) taken->Forget();
    return error;
  });
}

int dogged_result(dogged_job* job, const char* name, dogged_view* out) {
  return dogged::WithJob(job, [&](ClientJob& found) {
    if (out == nullptr) return Null("out");
    *out = {};
    return name == nullptr ? Null("name") : found.Result(name, *out);
  });
}

int dogged_read(dogged_job* job, const char* name, dogged_type type,
                void* buffer, size_t bytes) {
  return dogged::WithJob(job, [&](ClientJob& found) {
    if (name == nullptr) return Null("name");
    dogged_view view;
    ClientError error = found.Result(name, view);
    if (!error.ok()) return error;
    const std::string what = std::string("result ") + name + " of shape " +
                             dogged::ShapeText(view.rank, view.extents) + ", " +
                             dogged::TypeName(view.type) + ", has " +
                             std::to_string(view.bytes) + " bytes";
    if (type != view.type || bytes != view.bytes) {
      const char* const given = dogged::TypeName(type);
      return ErrorOf(DOGGED_MISUSED,
                     what + ", the buffer " + std::to_string(bytes) + " of " +
                         (given == nullptr ? "no type" : given));
    }
    if (bytes > 0 && buffer == nullptr) return Null("buffer");
    if (bytes > 0) std::memcpy(buffer, view.data, bytes);
    return error;
  });
}

int dogged_job_fd(dogged_job* job, int* fd) {
  return dogged::WithJob(job, [&](ClientJob& found) {
    if (fd == nullptr) return Null("fd");
    *fd = found.readable();
    return ClientError{};
  });
}

int dogged_job_event(dogged_job* job, dogged_event* out) {
  return dogged::WithJob(job, [&](ClientJob& found) {
    if (out == nullptr) return Null("out");
    found.NextEvent(*out);
    return ClientError{};
  });
}

int dogged_job_report(dogged_job* job, const char** json) {
  return dogged::WithJob(job, [&](ClientJob& found) {
    if (json == nullptr) return Null("json");
    *json = found.Report();
    return ClientError{};
  });
}
