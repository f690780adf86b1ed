#include "apps/client/client_program.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "apps/client/client_values.h"
#include "apps/client/handle_table.h"
#include "apps/client/lent_memory.h"

namespace dogged {
namespace {

// CRC-32, as in Python's package: a program has the same name in both.
uint32_t Crc32(const std::string& text) {
  uint32_t crc = 0xffffffff;
  for (const char byte : text) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
    }
  }
  return ~crc;
}

// Jobs of one name and another text refuse each other in a cluster.
std::string FileOf(const ClientProgram::Source& source) {
  if (source.file.empty()) {
    char name[32];
    std::snprintf(name, sizeof(name), "program_%08x.dog", Crc32(source.text));
    return name;
  }
  const size_t size = source.file.size();
  const bool has_end = size > 4 && source.file.substr(size - 4) == ".dog";
  return has_end ? source.file : source.file + ".dog";
}

std::string InputText(const dogged_array& input) {
  if (input.rank < 0) return TypeName(input.type);
  return std::string("of shape ") + ShapeText(input.rank, input.extents) +
         ", " + TypeName(input.type);
}

// The form of what C gave, before anything is read through its pointers.
ClientError CheckForm(const dogged_input& input, size_t index) {
  const std::string name = input.array == nullptr
                               ? "inputs[" + std::to_string(index) + "]"
                               : std::string("input ") + input.array;
  const auto wrong = [&name](const std::string& what) {
    return ErrorOf(DOGGED_MISUSED, name + ": " + what);
  };
  if (input.array == nullptr) return wrong("its array is NULL");
  if (TypeName(input.type) == nullptr) {
    return wrong("there is no type " + std::to_string(input.type));
  }
  if (input.rank < 0 || input.rank > DOGGED_RANK_MAX) {
    return wrong("its rank is " + std::to_string(input.rank) + ", 0 to " +
                 std::to_string(DOGGED_RANK_MAX) + " there are");
  }
  if (input.rank > 0 && input.extents == nullptr) {
    return wrong("its extents are NULL");
  }
  const int64_t bytes = BytesOf(input.type, input.rank, input.extents);
  if (bytes < 0) {
    return wrong("no array has the shape " +
                 ShapeText(input.rank, input.extents));
  }
  if (bytes > 0 && input.data == nullptr) return wrong("its data are NULL");
  return {};
}

// Lent where it is memory for that, else copied.
ClientError Sealed(const dogged_input& input, ClientDescriptor& out) {
  const auto bytes =
      static_cast<size_t>(BytesOf(input.type, input.rank, input.extents));
  std::shared_ptr<LentMemory> lent;
  if (HandleTable::OfThisProcess()
          .Find(HandleKind::kMemory, input.data, lent)
          .ok()) {
    out = lent->Lend(bytes);
    if (out.number() >= 0) return {};
  }
  return SealedCopy(input.array, input.data, bytes, out);
}

}  // namespace

ClientProgram::ClientProgram(std::shared_ptr<ClientSession> session,
                             Source source)
    : session_(std::move(session)),
      source_({.text = source.text,
               .file = FileOf(source),
               .parameters = source.parameters}) {}

nlohmann::json ClientProgram::Fields(
    const char* request, const std::vector<std::string>& want) const {
  return {{"do", request},
          {"file", source_.file},
          {"text", source_.text},
          {"parameters", source_.parameters},
          {"want", want}};
}

ClientError ClientProgram::Check() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return CheckWith(want_);
}

ClientError ClientProgram::Want(const std::string& labels) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> want = want_;
  want.push_back(labels);
  ClientError error = CheckWith(want);
  if (error.ok()) want_ = std::move(want);
  return error;
}

ClientError ClientProgram::CheckWith(const std::vector<std::string>& want) {
  ClientWire::Reply reply;
  ClientError error = session_->Ask(Fields("check", want), {}, reply);
  if (!error.ok()) return error;
  Facts& facts = facts_.emplace_back();
  facts.json = JsonLine(reply.fields);
  facts.program = TextIn(reply.fields, "program");
  const nlohmann::json none = nlohmann::json::array();
  for (const auto& name : reply.fields.value("results", none)) {
    if (name.is_string()) facts.results.push_back(name.get<std::string>());
  }
  for (const auto& one : reply.fields.value("inputs", none)) {
    dogged_view value = {};
    const auto shape = one.find("shape");
    if (shape != one.end() && shape->is_null()) {
      value.type = static_cast<dogged_type>(TypeOf(TextIn(one, "type")));
      value.rank = -1;
    } else {
      error = ValueFrom(one, value);
    }
    if (!error.ok()) break;
    facts.names.push_back(TextIn(one, "array"));
    dogged_array& input = facts.inputs.emplace_back();
    input.name = facts.names.back().c_str();
    input.type = value.type;
    input.rank = value.rank;
    std::copy_n(value.extents, std::max(0, value.rank), input.extents);
  }
  if (!error.ok()) facts_.pop_back();
  return error;
}

ClientError ClientProgram::Input(size_t index, dogged_array& out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Facts& facts = facts_.back();
  if (index >= facts.inputs.size()) {
    return ErrorOf(DOGGED_MISTYPED, facts.program + " wants " +
                                        std::to_string(facts.inputs.size()) +
                                        " inputs");
  }
  out = facts.inputs[index];
  return {};
}

ClientError ClientProgram::Result(size_t index, const char*& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Facts& facts = facts_.back();
  if (index >= facts.results.size()) {
    return ErrorOf(DOGGED_MISTYPED, facts.program + " has " +
                                        std::to_string(facts.results.size()) +
                                        " results");
  }
  name = facts.results[index].c_str();
  return {};
}

const char* ClientProgram::facts() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return facts_.back().json.c_str();
}

ClientError ClientProgram::CheckInputs(
    const dogged_submission& submission) const {
  for (size_t i = 0; i < submission.input_count; ++i) {
    ClientError error = CheckForm(submission.inputs[i], i);
    if (!error.ok()) return error;
  }
  const auto begin = submission.inputs;
  const auto end = begin + submission.input_count;
  const std::vector<dogged_array>& inputs = facts_.back().inputs;
  const bool are_wanted = std::all_of(begin, end, [&inputs](const auto& one) {
    return std::any_of(inputs.begin(), inputs.end(), [&one](const auto& of) {
      return std::string(of.name) == one.array;
    });
  });
  for (const dogged_array& wanted : inputs) {
    const std::string name = wanted.name;
    const auto named = [&name](const dogged_input& one) {
      return one.array == name;
    };
    const auto given = std::find_if(begin, end, named);
    if (given == end) {
      // The compiler has better words where a name is wrong.
      if (!are_wanted) continue;
      return ErrorOf(DOGGED_MISTYPED,
                     "input " + name + " is wanted, " + InputText(wanted));
    }
    if (std::find_if(given + 1, end, named) != end) {
      return ErrorOf(DOGGED_MISTYPED, "input " + name + " is given twice");
    }
    if (given->type != wanted.type) {
      return ErrorOf(DOGGED_MISTYPED, "input " + name + ": the array is " +
                                          TypeName(given->type) +
                                          ", the program wants " +
                                          TypeName(wanted.type));
    }
  }
  return {};
}

ClientError ClientProgram::Submit(const dogged_submission& submission,
                                  std::shared_ptr<ClientJob>& out) {
  nlohmann::json fields;
  std::string name;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ClientError error = CheckInputs(submission);
    if (!error.ok()) return error;
    fields = Fields("submit", want_);
    name = facts_.back().program;
  }
  std::vector<ClientDescriptor> memory;
  std::vector<int> descriptors;
  fields["inputs"] = nlohmann::json::array();
  for (size_t i = 0; i < submission.input_count; ++i) {
    const dogged_input& input = submission.inputs[i];
    ClientError error = Sealed(input, memory.emplace_back());
    if (!error.ok()) return error;
    descriptors.push_back(memory.back().number());
    fields["inputs"].push_back(
        {{"array", input.array},
         {"type", TypeName(input.type)},
         {"shape",
          std::vector<int64_t>(input.extents, input.extents + input.rank)}});
  }
  if (submission.replicas != 0) fields["replicas"] = submission.replicas;
  fields["keep_seconds"] = submission.keep_seconds;
  fields["redo_seconds"] = submission.redo_seconds;
  ClientWire::Reply reply;
  ClientError error = session_->Ask(std::move(fields), descriptors, reply);
  if (!error.ok()) return error;
  out = std::make_shared<ClientJob>(session_, NumberIn(reply.fields, "run"),
                                    name, TextIn(reply.fields, "job"));
  return out->Begin();
}

}  // namespace dogged
