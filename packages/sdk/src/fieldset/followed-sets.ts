import { messageOf } from '../errors.ts'
import type { FieldSets } from './field-sets.ts'
import type { FieldSet } from './fieldset.ts'

/** How often files are looked at. Unit: milliseconds. */
const EVERY_MS = 1000

/** The field set of a destination. */
export interface CurrentSet {
  /** Another object where the set has changed; undefined if there is none yet. */
  readonly current: FieldSet | undefined
  /** Why it is not as it should be, as a sentence; empty if it is. */
  readonly fault: string
}

/** The field sets in files that destinations are given by name, as they are now. What was good stays in use. */
export class FollowedSets {
  readonly #sets: FieldSets
  readonly #followed = new Map<string, { current: FieldSet | undefined; fault: string }>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(sets: FieldSets) {
    this.#sets = sets
  }

  /** Whether there is nothing to follow. */
  get isEmpty(): boolean {
    return this.#followed.size === 0
  }

  /** Why sets are not as they should be. */
  get faults(): readonly string[] {
    return [...this.#followed.values()].flatMap(({ fault }) => (fault === '' ? [] : [fault]))
  }

  /** The set of a name; read by `open`. */
  follow(name: string): CurrentSet {
    const set = this.#followed.get(name) ?? { current: undefined, fault: 'its field set has not been read yet' }
    this.#followed.set(name, set)
    return set
  }

  /** Reads all sets, and again where they change. Never rejects. */
  async open(): Promise<void> {
    await this.#look()
    if (this.isEmpty || this.#isClosed) return
    this.#timer ??= setInterval(() => void this.#look(), EVERY_MS).unref()
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    for (const [name, set] of this.#followed) {
      try {
        set.current = await this.#sets.get(name)
        set.fault = ''
      } catch (error) {
        set.fault = messageOf(error)
      }
    }
  }
}
