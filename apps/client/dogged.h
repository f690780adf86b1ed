/* The C interface of dogged, in libdogged.so: programs, inputs, jobs, results
 * and events. docs/CLIENT.md shows it at work.
 *
 * A session is a process, `dogged client`, that this library starts, and all
 * that computes is there or at the agents. Each function returns DOGGED_OK or
 * says why not; dogged_last_error() has the words. Handles are never reused: a
 * closed one, or a null pointer, is DOGGED_MISUSED, and nothing more happens.
 *
 * Threads: any function from any thread, but one event of a job at a time. A
 * thread of the library, with all signals blocked, reads for each session.
 * After a fork the child's calls are DOGGED_FORKED.
 *
 * C99, and C++. */
#ifndef DOGGED_APPS_CLIENT_DOGGED_H_
#define DOGGED_APPS_CLIENT_DOGGED_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Goes to dogged_open(), which refuses a library of another one. */
#define DOGGED_ABI 1
#define DOGGED_RANK_MAX 8

/* 0 to 5 are the exit statuses of the command. */
enum {
  DOGGED_OK = 0,
  DOGGED_JOB_FAILED = 1,    /* a kernel failed, a job ended */
  DOGGED_MISTYPED = 2,      /* no such input, result, file, address */
  DOGGED_PROGRAM_WRONG = 3, /* or it does not fit parameters and inputs */
  DOGGED_NO_AGENTS = 4,     /* nobody answers, or takes the key */
  DOGGED_NO_ROOM = 5,       /* out of memory or disk */
  DOGGED_CANCELLED = 6,     /* the job was cancelled */
  DOGGED_TIMED_OUT = 7,     /* of dogged_wait(); the job goes on */
  DOGGED_CLIENT_GONE = 8,   /* the session is closed, or its process ended */
  DOGGED_FORKED = 9,        /* made before a fork, in the parent */
  DOGGED_MISUSED = 10,      /* NULL, a freed handle, a wrong size */
  DOGGED_WRONG_ABI = 11     /* header, library and command are not of a kind */
};

/* All are opaque, and no memory of the caller's. */
typedef struct dogged_session dogged_session;
typedef struct dogged_program dogged_program;
typedef struct dogged_job dogged_job;

/* --- Errors --- */

/* Texts and numbers that don't apply are NULL and 0. */
typedef struct dogged_error {
  int status;          /* as returned */
  const char* message; /* in words */
  const char* text;    /* with line, carets and help, if a program is wrong */
  const char* code;    /* of the first diagnostic, as "D012" */
  const char* file;    /* its place, from 1, in bytes */
  int line;
  int column;
  int end_column;
  const char* note;  /* behind the carets */
  const char* help;  /* the way out */
  const char* task;  /* that the message names, as factor(2) */
  const char* label; /* as A(2)(1)(0) */
  const char* agent; /* its address */
  const char* json;  /* the whole answer, see docs/JSON.md */
} dogged_error;

/* The last failure of this thread; until its next one. Never NULL. */
const dogged_error* dogged_last_error(void);

/* --- Sessions --- */

/* Zero, or NULL, is the default of each. Either `agents` or `cluster` is given;
 * or neither, for a session that only compiles. */
typedef struct dogged_options {
  int agents;          /* own ones of this host, which end with the session */
  int workers;         /* threads of each (0: processors / agents) */
  const char* cluster; /* of others: "host:7070", "dns:NAME:PORT", "file:DIR" */
  const char* key_file; /* of the cluster */
  int insecure;         /* agents without keys where you have one */
} dogged_options;

/* `abi` is DOGGED_ABI. The command is $DOGGED_COMMAND, or $DOGGED, or
 * ../bin/dogged beside the library's folder, or the first on PATH. */
int dogged_open(int abi, const dogged_options* options, dogged_session** out);
/* Ends own agents, and their jobs; jobs of other agents go on. */
int dogged_close(dogged_session* session);
/* So many more own agents. They join running jobs. */
int dogged_start(dogged_session* session, int agents);
/* Agents as they say of themselves, as of "status" in docs/JSON.md. `*json` is
 * the caller's, to be freed with dogged_release(). */
int dogged_status(dogged_session* session, char** json);

/* --- Programs --- */

typedef enum dogged_type {
  DOGGED_DOUBLE = 0,
  DOGGED_FLOAT = 1,
  DOGGED_INT64 = 2
} dogged_type;

/* -D name=value: "401", "0.25". */
typedef struct dogged_parameter {
  const char* name;
  const char* value;
} dogged_parameter;

/* Ends with an entry whose name is NULL; NULL is none. */
typedef const dogged_parameter* dogged_parameters;

/* Compiles and proves a text. `name` is that of its jobs, and its file in
 * messages: "heat.dog"; its folder is where libraries of kernels are looked
 * for. NULL: a name made of the text. */
int dogged_program_text(dogged_session* session, const char* text,
                        const char* name, dogged_parameters parameters,
                        dogged_program** out);
int dogged_program_file(dogged_session* session, const char* path,
                        dogged_parameters parameters, dogged_program** out);
/* A further result, as "u(:)(10)", which is its name. Compiles again. */
int dogged_program_want(dogged_program* program, const char* labels);
int dogged_program_free(dogged_program* program); /* its jobs stay */

typedef struct dogged_array {
  const char* name; /* lives as long as the program */
  dogged_type type;
  int rank; /* -1: of an input whose shape gives the program its parameters */
  int64_t extents[DOGGED_RANK_MAX];
} dogged_array;

/* Until `index` is beyond the last one: DOGGED_MISTYPED. */
int dogged_program_input(dogged_program* program, size_t index,
                         dogged_array* out); /* that submit wants */
int dogged_program_result(dogged_program* program, size_t index,
                          const char** name);
/* The compiler's words about it, as of "check" in docs/JSON.md, with warnings.
 * Lives as long as the program. */
int dogged_program_facts(dogged_program* program, const char** json);

/* --- Jobs --- */

typedef struct dogged_input {
  const char* array;
  dogged_type type;
  int rank;
  const int64_t* extents;
  const void* data; /* in C order */
} dogged_input;

/* Zero, or NULL, is the default of each. */
typedef struct dogged_submission {
  const dogged_input* inputs;
  size_t input_count;
  int replicas;        /* copies of each value (0: 2, or 1 with one agent) */
  double keep_seconds; /* that results stay with agents of others */
  double redo_seconds; /* of work that one lost agent may cost */
} dogged_submission;

/* Memory for an input, zeroed, that is lent to jobs without a copy; all other
 * memory is copied before dogged_submit() returns. Lent memory may be read and
 * written after that: the job keeps what there was. A second job gets a copy of
 * it. dogged_release() ends the caller's use of it, not the job's. */
int dogged_alloc(size_t bytes, void** out);
/* Also for texts of dogged_status(). NULL is nothing. */
int dogged_release(void* memory);

/* Returns once the agents have it. `submission` may be NULL. */
int dogged_submit(dogged_program* program, const dogged_submission* submission,
                  dogged_job** out);
/* Its hash, 32 digits; lives as long as the job's handle. */
int dogged_job_hash(dogged_job* job, const char** hash);
/* Until it has ended: DOGGED_OK, or why it failed. Less than 0 seconds: without
 * limit; 0: as it is now. */
int dogged_wait(dogged_job* job, double seconds);
/* Ends it, for all: dogged_wait() is DOGGED_CANCELLED then. */
int dogged_cancel(dogged_job* job);
/* Its views end with it. Results are dropped, the job goes on. */
int dogged_job_free(dogged_job* job);

/* --- Results --- */

typedef struct dogged_view {
  dogged_type type;
  int rank;
  int64_t extents[DOGGED_RANK_MAX];
  size_t bytes;
  void* data; /* C order, writable, the job's */
} dogged_view;

/* Waits. The values where the client has put them together, without a copy;
 * the same each time. */
int dogged_result(dogged_job* job, const char* name, dogged_view* out);
/* Waits. A copy into the caller's memory, of that size and type. */
int dogged_read(dogged_job* job, const char* name, dogged_type type,
                void* buffer, size_t bytes);

/* --- Events --- */

enum {
  DOGGED_NO_EVENT = 0, /* none is there now */
  DOGGED_SUBMITTED,
  DOGGED_PROGRESS, /* done, needed */
  DOGGED_JOINED,   /* who */
  DOGGED_LEFT,     /* who */
  DOGGED_LOST,     /* who, words: the cause */
  DOGGED_NOTE,     /* words: why the job waits, what is wrong with an agent */
  DOGGED_DONE,
  DOGGED_FAILED,     /* words: the message */
  DOGGED_OTHER_EVENT /* of a newer command: json has it */
};

/* Texts live until the next call with this job. */
typedef struct dogged_event {
  int kind;
  int64_t done; /* tasks */
  int64_t needed;
  const char* who;
  const char* words;
  const char* json; /* the whole event, see docs/JSON.md */
} dogged_event;

/* A descriptor that can be read, by poll() and the like, while an event waits.
 * The job owns it: neither to be read from nor closed. */
int dogged_job_fd(dogged_job* job, int* fd);
/* The next event; does not wait. The last one is DOGGED_DONE or
 * DOGGED_FAILED. */
int dogged_job_event(dogged_job* job, dogged_event* out);
/* Figures of a job that has ended, as of `dogged run --json`; else "{}". Lives
 * as long as the job's handle. */
int dogged_job_report(dogged_job* job, const char** json);

#pragma GCC visibility pop
#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOGGED_APPS_CLIENT_DOGGED_H_ */
