import { SondeError } from '@sonde/sdk'
import koffi from './foreign.ts'

const O_RDONLY = 0
const O_CLOEXEC = 0o2000000
const CLONE_NEWNET = 0x4000_0000
const AF_INET = 2
const SOCK_DGRAM = 2
/** The namespace of the calling thread. */
const OWN = '/proc/thread-self/ns/net'

/** The functions of the C library that are called. */
interface Functions {
  open(path: string, flags: number): number
  close(descriptor: number): number
  setns(descriptor: number, type: number): number
  socket(domain: number, type: number, protocol: number): number
}

let bound: Functions | undefined

function functions(): Functions {
  if (bound !== undefined) return bound
  const system = koffi.load(null)
  bound = {
    open: system.func('int open(const char *path, int flags)'),
    close: system.func('int close(int descriptor)'),
    setns: system.func('int setns(int descriptor, int type)'),
    socket: system.func('int socket(int domain, int type, int protocol)'),
  }
  return bound
}

/**
 * Opens a datagram socket in another network namespace: requests over it concern the interfaces of that namespace. Only
 * this thread enters the namespace, and only for the time of this call. Needs CAP_SYS_ADMIN. Only for a child process:
 * if the thread cannot return, the process ends.
 *
 * @param path File of the namespace, such as `/proc/PID/ns/net`.
 * @throws SondeError `SRC_CALL` if the namespace cannot be entered.
 */
export function socketIn(path: string): number {
  const { open, close, setns, socket } = functions()
  const own = open(OWN, O_RDONLY | O_CLOEXEC)
  if (own < 0) throw failure(`open of ${OWN}`)
  const target = open(path, O_RDONLY | O_CLOEXEC)
  if (target < 0) {
    const fault = failure(`open of ${path}`)
    close(own)
    throw fault
  }
  try {
    if (setns(target, CLONE_NEWNET) !== 0) throw failure(`setns to ${path}`)
    const found = socket(AF_INET, SOCK_DGRAM | O_CLOEXEC, 0)
    const fault = found < 0 ? failure('socket') : undefined
    // In a foreign namespace every later answer of this process would be wrong.
    if (setns(own, CLONE_NEWNET) !== 0) process.abort()
    if (fault !== undefined) throw fault
    return found
  } finally {
    close(target)
    close(own)
  }
}

function failure(what: string): SondeError {
  const code = koffi.errno()
  const name = Object.entries(koffi.os.errno).find(([, number]) => number === code)?.[0] ?? `E${code}`
  return new SondeError('SRC_CALL', `${what} answers ${name}; entering the network namespace of a pod needs root`)
}
