import { fork } from 'node:child_process'
import { Worker } from 'node:worker_threads'
import { HOST_MODULE } from '../places.ts'
import type { FromHost, ToHost } from './protocol.ts'

/** A running child process or worker. */
export interface Transport {
  readonly kind: 'process' | 'worker'
  /** Process id of a child; undefined for a worker. */
  readonly pid: number | undefined
  send(message: ToHost): void
  /** Ends it at once, whatever it is doing. */
  kill(): void
}

/** What happens to a {@link Transport}. */
export interface TransportEvents {
  readonly onMessage: (message: FromHost) => void
  /** It ended, for whatever reason; called once. */
  readonly onExit: (reason: string) => void
  /** A line that vendor code wrote to standard error. */
  readonly onNoise: (line: string) => void
}

const NOISE_LIMIT_BYTES = 4096
/** Threads on which calls run, of which one that hangs keeps one for good. They start with the first call, and an idle one costs next to nothing. */
const POOL_THREADS = '16'
/** Without a limit each thread that asks the C library for memory keeps a piece of its own. */
const MALLOC_ARENAS = '2'
/** What a child makes is gone after each call: a small young generation keeps it some megabytes smaller, at no cost in time. SIGUSR1 opens no port for debuggers. */
const CHILD_FLAGS = ['--max-semi-space-size=1', '--disable-sigusr1']

/** Starts a child process: for everything that may hang or crash. */
export function startProcess({ onMessage, onExit, onNoise }: TransportEvents): Transport {
  const { PATH, HOME, LANG, LD_LIBRARY_PATH, XDG_RUNTIME_DIR } = process.env
  const given = { PATH, HOME, LANG, LD_LIBRARY_PATH, XDG_RUNTIME_DIR }
  const env = { ...given, UV_THREADPOOL_SIZE: POOL_THREADS, MALLOC_ARENA_MAX: MALLOC_ARENAS }
  const execArgv = [...process.execArgv, ...CHILD_FLAGS]
  const child = fork(HOST_MODULE, {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env,
    execArgv,
  })
  let ended = false
  const end = (reason: string) => {
    if (!ended) onExit(reason)
    ended = true
  }
  child.on('message', (message) => onMessage(message as FromHost))
  child.on('error', (error) => end(error.message))
  child.on('exit', (code, signal) => end(signal === null ? `ended with code ${code}` : `was ended by ${signal}`))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => onNoise(text.slice(0, NOISE_LIMIT_BYTES)))
  return {
    kind: 'process',
    pid: child.pid,
    send: (message) => {
      // A closed channel shows as the exit that follows.
      if (child.connected) child.send(message, () => undefined)
    },
    kill: () => child.kill('SIGKILL'),
  }
}

/** Starts a worker thread: for sampling above 100 Hz and heavy parsing by our own code. */
export function startWorker({ onMessage, onExit }: TransportEvents): Transport {
  const worker = new Worker(HOST_MODULE)
  let failure = ''
  worker.on('message', (message: FromHost) => onMessage(message))
  worker.on('error', (error: Error) => {
    failure = error.message
  })
  worker.on('exit', (code) => onExit(failure === '' ? `ended with code ${code}` : `ended with an error: ${failure}`))
  return {
    kind: 'worker',
    pid: undefined,
    send: (message) => worker.postMessage(message),
    kill: () => void worker.terminate(),
  }
}
