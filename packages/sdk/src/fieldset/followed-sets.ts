import { messageOf } from '../errors.ts'
import type { FieldSets } from './field-sets.ts'
import type { FieldSet } from './fieldset.ts'

/** Period of the checks for changed files. Unit: milliseconds. */
const EVERY_MS = 1000

/** The field set of a destination. */
export interface CurrentSet {
  /** The current set, a new object after a change; undefined if there is none yet. */
  readonly current: FieldSet | undefined
  /** The fault of its file, as a sentence; empty if it has none. */
  readonly fault: string
}

/** The current field sets of destinations that name a file. The last valid version stays in use. */
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

  /** The faults of all sets. */
  get faults(): readonly string[] {
    return [...this.#followed.values()].flatMap(({ fault }) => (fault === '' ? [] : [fault]))
  }

  /** The set of a name, which `open` has read. */
  follow(name: string): CurrentSet {
    const set = this.#followed.get(name) ?? { current: undefined, fault: 'its field set has not been read yet' }
    this.#followed.set(name, set)
    return set
  }

  /** Reads all sets, and reads changed files again. Never rejects. */
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
