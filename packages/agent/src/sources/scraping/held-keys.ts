import type { Claimant, Claims } from './claims.ts'
import type { Subject } from './subjects.ts'

/** Answers after which a claimant loses its right to keys that it left. */
const ANSWERS_KEPT = 3

/** The keys that one exporter holds, and those that it may take back. */
export class HeldKeys {
  readonly #claims: Claims
  readonly #claimant: Claimant
  /** How many of its GPUs and pods have each key: all GPUs of a node share the key of the node. */
  readonly #held = new Map<string, number>()
  /** By key of each subject, to know those that were added later. */
  readonly #of = new Map<string, ReadonlySet<string>>()
  /** Keys that it left, and its answer at that time. */
  readonly #left = new Map<string, number>()
  #answers = 0

  constructor(claims: Claims, claimant: Claimant) {
    this.#claims = claims
    this.#claimant = claimant
  }

  /** Whether it holds all keys of a subject. */
  hasAll({ keys: [own, ...more] }: Subject): boolean {
    const known = this.#of.get(own)
    return known !== undefined && more.every((key) => known.has(key))
  }

  /** Own keys of the subjects that have a key. */
  *subjectsWith(key: string): Generator<string> {
    for (const [own, keys] of this.#of) if (keys.has(key)) yield own
  }

  add({ keys: [own, ...more] }: Subject): void {
    const known = this.#of.get(own) ?? new Set()
    const fresh = [own, ...more].filter((key) => !known.has(key))
    this.#of.set(own, new Set([...known, ...fresh]))
    for (const key of fresh) {
      this.#held.set(key, (this.#held.get(key) ?? 0) + 1)
      this.#left.delete(key)
    }
  }

  /** It tells of a subject no more. */
  release(own: string): void {
    for (const key of this.#of.get(own) ?? []) {
      const count = (this.#held.get(key) ?? 1) - 1
      if (count > 0) {
        this.#held.set(key, count)
        continue
      }
      this.#held.delete(key)
      this.#left.set(key, this.#answers)
      this.#claims.release(key, this.#claimant)
    }
    this.#of.delete(own)
  }

  /** A whole answer was taken: after some answers the right to keys that it left ends. */
  endAnswer(): void {
    this.#answers++
    for (const [key, answer] of this.#left) {
      if (this.#answers - answer <= ANSWERS_KEPT) continue
      this.#left.delete(key)
      this.#claims.forget(key, this.#claimant)
    }
  }

  /** It is asked no more. */
  clear(): void {
    for (const key of [...this.#held.keys(), ...this.#left.keys()]) this.#claims.forget(key, this.#claimant)
    for (const map of [this.#held, this.#of, this.#left]) map.clear()
  }
}
