import { SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import type { KoffiFunc } from 'koffi'
import { loadLibrary } from '../foreign.ts'
import { DocaFailure } from './failure.ts'
import { ERROR_NAMES } from './layout.ts'
import { COMMON, DOUBLE_SYMBOL, type DocaSymbol, RESULTS, TELEMETRY } from './symbols.ts'

/** Paths of the two libraries. */
export interface DocaPaths {
  readonly telemetry: string
  readonly common: string
}

/** A parameter of a call: a number, an address, or memory that stays where it is. */
export type Argument = number | bigint | Uint8Array

type Foreign = KoffiFunc<(...args: Argument[]) => unknown>

/**
 * The loaded DOCA libraries. Functions are looked up separately: a missing function means a missing capability. Calls
 * run on the thread pool, so that a hanging call blocks only its thread and no other device.
 */
export class DocaLibrary {
  readonly paths: DocaPaths
  /** Whether the library says that it stands in for NVIDIA's. */
  readonly isDouble: boolean
  readonly #telemetry: ReturnType<typeof loadLibrary>
  readonly #functions = new Map<DocaSymbol, Foreign>()
  /** Arguments of open calls: memory that a call writes is not freed before it came back. */
  readonly #written = new Set<readonly Argument[]>()
  /** The open call of each device; the next call of any caller waits for it. */
  readonly #last = new Map<string, Promise<unknown>>()

  /** @throws SondeError `SRC_LIBRARY` if they are no libraries, or made for another machine. */
  constructor(paths: DocaPaths) {
    this.paths = paths
    const common = load(paths.common)
    this.#telemetry = load(paths.telemetry)
    this.#bind(common, COMMON)
    this.#bind(this.#telemetry, TELEMETRY)
    this.isDouble = this.exports(DOUBLE_SYMBOL)
  }

  /** Whether the installed version has a function. */
  has(symbol: DocaSymbol): boolean {
    return this.#functions.has(symbol)
  }

  /** Whether the library of counters exports a name, also a name that is never called. */
  exports(name: string): boolean {
    return hasSymbol(this.#telemetry, name)
  }

  /**
   * Calls a function, once the calls of its device before have come back. Memory that it writes must be used for
   * nothing else until then.
   *
   * @param device Named in the failure.
   * @returns Why it gave nothing; undefined if it did.
   */
  async call(device: string, symbol: DocaSymbol, ...args: Argument[]): Promise<DocaFailure | undefined> {
    const called = this.#functions.get(symbol)
    if (called === undefined) return new DocaFailure(device, symbol, 'NO_SYMBOL')
    const code = Number(await this.#inTurn(device, () => this.#start(called, args)))
    return code === 0 ? undefined : new DocaFailure(device, symbol, ERROR_NAMES[code] ?? 'UNKNOWN')
  }

  /** The same for a function that answers with an address; 0 if there is none. */
  async address(device: string, symbol: DocaSymbol, ...args: Argument[]): Promise<bigint> {
    const called = this.#functions.get(symbol)
    const answer = called === undefined ? 0n : await this.#inTurn(device, () => this.#start(called, args))
    return typeof answer === 'bigint' ? answer : 0n
  }

  #inTurn(device: string, call: () => Promise<unknown>): Promise<unknown> {
    const next = (this.#last.get(device) ?? Promise.resolve()).then(call)
    const ended = next
      .catch(() => undefined)
      .then(() => {
        if (this.#last.get(device) === ended) this.#last.delete(device)
      })
    this.#last.set(device, ended)
    return next
  }

  #start(called: Foreign, args: readonly Argument[]): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#written.add(args)
    called.async(...args, (error: Error | null, answer: unknown) => {
      this.#written.delete(args)
      if (error === null) resolve(answer)
      else reject(error)
    })
    return promise
  }

  #bind(library: ReturnType<typeof loadLibrary>, signatures: Readonly<Record<string, readonly string[]>>): void {
    for (const [name, parameters] of Object.entries(signatures)) {
      if (!hasSymbol(library, name)) continue
      const bound = library.func(name, RESULTS[name] ?? 'int', [...parameters])
      this.#functions.set(name as DocaSymbol, bound as Foreign)
    }
  }
}

function load(path: string): ReturnType<typeof loadLibrary> {
  try {
    return loadLibrary(path)
  } catch (error) {
    if (error instanceof SondeError) throw error
    const fix = `see what it needs with ldd ${path}, or install doca-sdk-telemetry and doca-sdk-common again`
    throw new SondeError('SRC_LIBRARY', `${path} cannot be loaded: ${messageOf(error)}; ${fix}`, { cause: error })
  }
}

function hasSymbol(library: ReturnType<typeof loadLibrary>, name: string): boolean {
  try {
    return library.symbol(name) !== undefined
  } catch {
    return false
  }
}
