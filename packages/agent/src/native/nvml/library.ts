import { SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import type { KoffiFunc } from 'koffi'
import { loadLibrary } from '../foreign.ts'
import { NvmlFailure } from './failure.ts'
import { SUCCESS } from './layout.ts'
import { DOUBLE_SYMBOL, type NvmlSymbol, SYMBOLS } from './symbols.ts'

/** A parameter of a call: a number, an address, or memory that stays where it is. */
export type NvmlArgument = number | bigint | Uint8Array

type Foreign = KoffiFunc<(...args: NvmlArgument[]) => number>

/** NVIDIA's management library, loaded and begun. It says of itself that any thread may call it. */
export class NvmlLibrary {
  /** Whether the library says that it stands in for NVIDIA's. */
  readonly isDouble: boolean
  readonly #functions = new Map<NvmlSymbol, Foreign>()
  /** Memory of open calls, which must not be freed before a call returns. */
  readonly #written = new Set<readonly NvmlArgument[]>()

  /** @throws SondeError `SRC_LIBRARY` if it is no such library, or does not begin: the sentence says why. */
  constructor(path: string) {
    const library = load(path)
    for (const [name, parameters] of Object.entries(SYMBOLS)) {
      if (!hasSymbol(library, name)) continue
      this.#functions.set(name as NvmlSymbol, library.func(name, 'int', [...parameters]) as Foreign)
    }
    this.isDouble = hasSymbol(library, DOUBLE_SYMBOL)
    const refused = this.call('the node', 'nvmlInit_v2')
    if (refused !== undefined) throw new SondeError('SRC_LIBRARY', `${path}: ${refused.error.message}`)
  }

  /** Whether the installed version has a function. */
  has(symbol: NvmlSymbol): boolean {
    return this.#functions.has(symbol)
  }

  /** Calls a function; returns the failure, if any. */
  answer(symbol: NvmlSymbol, ...args: NvmlArgument[]): number | undefined {
    return this.#functions.get(symbol)?.(...args)
  }

  /** Calls a function synchronously, for cached data of a driver that just answered. Returns the failure, if any. */
  call(device: string, symbol: NvmlSymbol, ...args: NvmlArgument[]): NvmlFailure | undefined {
    const code = this.answer(symbol, ...args)
    return code === SUCCESS ? undefined : new NvmlFailure(device, symbol, code)
  }

  /** The same on the thread pool: a call that hangs keeps its thread, and the other GPUs are read. */
  async callAsync(device: string, symbol: NvmlSymbol, ...args: NvmlArgument[]): Promise<NvmlFailure | undefined> {
    const code = await this.answerAsync(symbol, ...args)
    return code === SUCCESS ? undefined : new NvmlFailure(device, symbol, code)
  }

  /** Calls a function on the thread pool; returns its result, undefined if the library has no such function. */
  async answerAsync(symbol: NvmlSymbol, ...args: NvmlArgument[]): Promise<number | undefined> {
    const called = this.#functions.get(symbol)
    if (called === undefined) return undefined
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    this.#written.add(args)
    called.async(...args, (error: Error | null, code: number) => {
      this.#written.delete(args)
      if (error === null) resolve(code)
      else reject(error)
    })
    return promise
  }
}

function load(path: string): ReturnType<typeof loadLibrary> {
  try {
    return loadLibrary(path)
  } catch (error) {
    if (error instanceof SondeError) throw error
    const said = `${path} cannot be loaded: ${messageOf(error)}; see what it needs with ldd ${path}`
    throw new SondeError('SRC_LIBRARY', said, { cause: error })
  }
}

function hasSymbol(library: ReturnType<typeof loadLibrary>, name: string): boolean {
  try {
    return library.symbol(name) !== undefined
  } catch {
    return false
  }
}
