import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { SondeError } from '@sonde/sdk'
import { codeFault, TRUST_VARIABLE } from '@sonde/sdk/internal'
import { HOST_MODULE } from '../places.ts'
import type { ProcessRef } from '../processor/readings.ts'
import { CHILD_PIPE, frameOf, readFrames } from './channel.ts'
import { fromHost } from './from-host.ts'
import type { FromHost, ToHost } from './protocol.ts'

/** A running child process or worker. */
export interface Transport {
  readonly kind: 'process' | 'worker'
  /** Process id of a child; undefined for a worker. */
  readonly pid: number | undefined
  /** Where it runs. */
  readonly place: ProcessRef
  send(message: ToHost): void
  /** Kills it at once. */
  kill(): void
}

/** The data of a worker with which it reports its thread. */
export interface WorkerPlace {
  /** The number of its thread; 0 until it has started. */
  readonly thread: Int32Array
}

/** Starts a host elsewhere. */
export type TransportStart = (events: TransportEvents) => Transport

/** Callbacks of a {@link Transport}. */
export interface TransportEvents {
  /** Longest message that it may send. Unit: bytes. */
  readonly messageBytes: number
  readonly onMessage: (message: FromHost) => void
  /** It sent bytes that are no message. */
  readonly onFault: (error: SondeError) => void
  /** It has ended for any reason; called once. */
  readonly onExit: (reason: string) => void
  /** A line that vendor code wrote to standard error. */
  readonly onNoise: (line: string) => void
}

const NOISE_LIMIT_BYTES = 4096
/**
 * Number of threads for calls. A hanging call blocks its thread for ever. Threads start with the first call; an idle
 * thread costs almost nothing.
 */
const POOL_THREADS = '16'
/** Without a limit each thread that asks the C library for memory keeps a piece of its own. */
const MALLOC_ARENAS = '2'
/**
 * The objects of a child are garbage after each call: a small young generation saves some megabytes at no cost in time.
 * SIGUSR1 must not open a port for debuggers.
 */
const CHILD_FLAGS = ['--max-semi-space-size=1', '--disable-sigusr1']

/** Starts a child process: for everything that may hang or crash. */
export function startProcess({ messageBytes, onMessage, onFault, onExit, onNoise }: TransportEvents): Transport {
  const { PATH, HOME, LANG, TMPDIR, XDG_RUNTIME_DIR, SUDO_UID, SUDO_GID } = process.env
  const { KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, NODE_NAME } = process.env
  const inCluster = { KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, NODE_NAME }
  const trusted = { SUDO_UID, SUDO_GID, [TRUST_VARIABLE]: process.env[TRUST_VARIABLE] }
  const given = {
    PATH,
    HOME,
    LANG,
    TMPDIR,
    LD_LIBRARY_PATH: libraryFolders(),
    XDG_RUNTIME_DIR,
    ...trusted,
    ...inCluster,
  }
  const env = { ...given, UV_THREADPOOL_SIZE: POOL_THREADS, MALLOC_ARENA_MAX: MALLOC_ARENAS }
  const execArgv = [...process.execArgv, ...CHILD_FLAGS]
  const child = spawn(process.execPath, [...execArgv, fileURLToPath(HOST_MODULE)], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env,
  })
  // Without free descriptors the child or its pipe is missing; an error event follows.
  const pipe = child.stdio?.[CHILD_PIPE] as Socket | undefined
  let ended = false
  const end = (reason: string) => {
    if (!ended) onExit(reason)
    ended = true
  }
  if (pipe !== undefined) {
    readFrames(pipe, messageBytes, ({ said, bytes }) => onMessage(fromHost(said, bytes)), onFault)
    // A pipe that is closed shows as the exit that follows.
    pipe.on('error', () => undefined)
  }
  child.on('error', (error) => end(error.message))
  child.on('exit', (code, signal) => {
    pipe?.destroy()
    end(signal === null ? `ended with code ${code}` : `was ended by ${signal}`)
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => onNoise(text.slice(0, NOISE_LIMIT_BYTES).trimEnd()))
  return {
    kind: 'process',
    pid: child.pid,
    place: { pid: child.pid ?? process.pid },
    send: (message) => {
      if (pipe?.writable) pipe.write(frameOf(message))
    },
    kill: () => child.kill('SIGKILL'),
  }
}

/** Search folders of the loader for dependencies, without folders from which root must not load. */
function libraryFolders(): string | undefined {
  const { LD_LIBRARY_PATH: given } = process.env
  return given
    ?.split(':')
    .filter((folder) => codeFault(folder) === '')
    .join(':')
}

/** Starts a worker thread: for sampling above 100 Hz and heavy parsing by our own code. */
export function startWorker({ onMessage, onExit }: TransportEvents): Transport {
  // The thread tells its number as it starts, without a message.
  const thread = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const worker = new Worker(HOST_MODULE, { workerData: { thread } satisfies WorkerPlace })
  let failure = ''
  worker.on('message', (message: FromHost) => onMessage(message))
  worker.on('error', (error: Error) => {
    failure = error.message
  })
  worker.on('exit', (code) => onExit(failure === '' ? `ended with code ${code}` : `ended with an error: ${failure}`))
  return {
    kind: 'worker',
    pid: undefined,
    get place() {
      const number = Atomics.load(thread, 0)
      return { pid: process.pid, ...(number === 0 ? {} : { thread: number }) }
    },
    send: (message) => worker.postMessage(message),
    kill: () => void worker.terminate(),
  }
}
