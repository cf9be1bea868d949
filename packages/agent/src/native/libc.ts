import { SondeError } from '@sonde/sdk'
import koffi, { loadLibrary } from './foreign.ts'

/** The functions of the C library that are called. */
export interface Libc {
  /** A datagram socket that only carries requests to drivers; nothing is sent. */
  openSocket(): number
  close(descriptor: number): void
  /**
   * Runs on a thread of the pool and so may hang without stopping the others. The memory must not be used otherwise
   * until it ends. Resolves with the name of the error, such as `EIO`; empty if there was none.
   */
  ioctl(descriptor: number, request: number, memory: Buffer): Promise<string>
  /** Where the memory is; it does not move while it is referenced. At least 4 096 bytes, since V8 moves small ones. */
  addressOf(memory: Buffer): bigint
}

const AF_INET = 2
const SOCK_DGRAM = 2
const SOCK_CLOEXEC = 0o2000000

/**
 * Binds the functions.
 *
 * @param path The library with the functions; a test passes its own. Default: the C library of this process.
 * @throws SondeError `SRC_LIBRARY` if the library cannot be loaded or a function is missing.
 */
export function openLibc(path: string | null = null): Libc {
  try {
    return bind(path === null ? koffi.load(null) : loadLibrary(path), koffi.load(null))
  } catch (error) {
    throw new SondeError('SRC_LIBRARY', `${path ?? 'the C library'} cannot be used: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** Only `ioctl` reaches hardware, so only that is worth a double. */
function bind(hardware: ReturnType<typeof koffi.load>, system: ReturnType<typeof koffi.load>): Libc {
  const socket = system.func('int socket(int domain, int type, int protocol)')
  const close = system.func('int close(int descriptor)')
  // Declared as it is called: koffi runs no variadic function on another thread, and on Linux the arguments are passed
  // alike.
  const ioctl = hardware.func('int ioctl(int descriptor, unsigned long request, void *memory)')
  return {
    openSocket() {
      const descriptor: number = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)
      if (descriptor < 0) throw new SondeError('SRC_CALL', `socket answers ${errorName(koffi.errno())}`)
      return descriptor
    },
    close: (descriptor) => void close(descriptor),
    ioctl: (descriptor, request, memory) =>
      new Promise((resolve, reject) => {
        ioctl.async(descriptor, request, memory, (error: Error | null, result: number) => {
          if (error !== null) reject(error)
          // Valid only here: koffi gives the thread's errno for the time of this callback.
          else resolve(result < 0 ? errorName(koffi.errno()) : '')
        })
      }),
    addressOf: (memory) => koffi.address(memory),
  }
}

const NAMES = new Map(Object.entries(koffi.os.errno).map(([name, code]) => [code, name]))

function errorName(code: number): string {
  return NAMES.get(code) ?? `E${code}`
}
