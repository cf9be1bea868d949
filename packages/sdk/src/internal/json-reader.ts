import { shown } from '../errors.ts'

/** An object of parsed JSON. Its values may be anything. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value of parsed JSON is an object: neither null nor a list. */
export function isJsonObject(given: unknown): given is JsonObject {
  return given !== null && typeof given === 'object' && !Array.isArray(given)
}

/**
 * Checks values of parsed JSON from outside: of a file, a request or a peer. Every fault names the place, the value and
 * what is allowed. Long values are cut.
 */
export class JsonReader {
  readonly #fault: (message: string) => Error

  /** @param fault Makes the error that is thrown. */
  constructor(fault: (message: string) => Error) {
    this.#fault = fault
  }

  /** The error for a wrong value. */
  wrong(place: string, given: unknown, allowed: string): Error {
    return this.#fault(`${place} is ${shown(given)}; allowed: ${allowed}`)
  }

  /** @param keys Keys that the object may have; a misspelt key would otherwise count as left out. Default: any. */
  object(place: string, given: unknown, keys?: readonly string[]): JsonObject {
    const allowed = keys?.join(', ')
    if (!isJsonObject(given))
      throw this.wrong(place, given, allowed === undefined ? 'an object' : `an object with ${allowed}`)
    const unknown = keys && Object.keys(given).find((key) => !keys.includes(key))
    if (unknown !== undefined) throw this.#fault(`${place} has the key ${shown(unknown)}; allowed: ${allowed}`)
    return given
  }

  /** @param countMax Default: any number of elements. */
  list(place: string, given: unknown, countMax = Number.POSITIVE_INFINITY): readonly unknown[] {
    if (Array.isArray(given) && given.length <= countMax) return given
    throw this.wrong(place, given, countMax === Number.POSITIVE_INFINITY ? 'a list' : `a list of at most ${countMax}`)
  }

  /** @param charactersMax Default: any length. */
  text(place: string, given: unknown, charactersMax = Number.POSITIVE_INFINITY): string {
    if (typeof given === 'string' && given.length <= charactersMax) return given
    const isBounded = charactersMax !== Number.POSITIVE_INFINITY
    throw this.wrong(place, given, isBounded ? `text of at most ${charactersMax} characters` : 'text')
  }

  integer(place: string, given: unknown, min: number, max: number): number {
    if (Number.isInteger(given) && (given as number) >= min && (given as number) <= max) return given as number
    throw this.wrong(place, given, `a whole number from ${min} to ${max}`)
  }

  oneOf<const T>(place: string, given: unknown, allowed: readonly T[]): T {
    const found = allowed.find((one) => one === given)
    if (found === undefined && !allowed.includes(given as T)) throw this.wrong(place, given, allowed.join(', '))
    return found as T
  }
}
