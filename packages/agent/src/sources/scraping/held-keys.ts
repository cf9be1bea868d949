import type { Claimant, Claims } from './claims.ts'
import type { Subject } from './subjects.ts'

/** Answers after which a claimant loses its right to a key that it released. */
const ANSWERS_KEPT = 3

/** The keys that one exporter holds, and those that it may take back. */
export class HeldKeys {
  readonly #claims: Claims
  readonly #claimant: Claimant
  /** Number of subjects per key: all GPUs of a node share the key of the node. */
  readonly #held = new Map<string, number>()
  /** Keys of each subject by its own key, to find keys that were added later. */
  readonly #of = new Map<string, ReadonlySet<string>>()
  /** Released keys, each with the number of the answer that released it. */
  readonly #left = new Map<string, number>()
  #answers = 0

  constructor(claims: Claims, claimant: Claimant) {
    this.#claims = claims
    this.#claimant = claimant
  }

  /** Whether the exporter holds all keys of a subject. */
  hasAll({ keys: [own, ...more] }: Subject): boolean {
    const known = this.#of.get(own)
    return known !== undefined && more.every((key) => known.has(key))
  }

  /** Own keys of all subjects with a key. */
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

  /** The exporter no longer reports a subject. */
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

  /** Ends a complete answer. After some answers the right to released keys ends. */
  endAnswer(): void {
    this.#answers++
    for (const [key, answer] of this.#left) {
      if (this.#answers - answer <= ANSWERS_KEPT) continue
      this.#left.delete(key)
      this.#claims.forget(key, this.#claimant)
    }
  }

  /** The exporter is no longer scraped. */
  clear(): void {
    for (const key of [...this.#held.keys(), ...this.#left.keys()]) this.#claims.forget(key, this.#claimant)
    for (const map of [this.#held, this.#of, this.#left]) map.clear()
  }
}
