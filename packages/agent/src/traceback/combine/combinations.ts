import type { CombinationRule, RuleBook } from '../../rules/rule.ts'

/** An edge of a rule on one signal, by the index of the rule in the book. */
export interface RuleEdge {
  readonly rule: number
  readonly isStart: boolean
  /** When it was. Unit: nanoseconds since the epoch. */
  readonly timeNs: bigint
}

interface Combination {
  readonly rule: number
  readonly combination: CombinationRule
  isActive: boolean
}

/** Follows the rules that hold while others do. */
export class Combinations {
  readonly #combinations: readonly Combination[]
  /** When each active rule began. */
  readonly #begun = new Map<number, bigint>()

  constructor({ rules }: RuleBook) {
    this.#combinations = rules.flatMap((combination, rule) =>
      'of' in combination ? [{ rule, combination, isActive: false }] : [],
    )
  }

  /** Whether the book has none. */
  get isEmpty(): boolean {
    return this.#combinations.length === 0
  }

  /**
   * Takes all edges of one moment. A rule that ends and another that begins in it leave an `any_of` of both as it is.
   *
   * @returns Combinations that begin or end.
   */
  take(edges: readonly RuleEdge[]): { readonly rule: number; readonly isStart: boolean }[] {
    for (const { rule, isStart, timeNs } of edges) {
      if (isStart) this.#begun.set(rule, timeNs)
      else this.#begun.delete(rule)
    }
    return this.#combinations.flatMap((one) => {
      const holds = this.#holds(one)
      if (holds === one.isActive) return []
      one.isActive = holds
      return [{ rule: one.rule, isStart: holds }]
    })
  }

  #holds({ combination: { of, rules, withinNs }, isActive }: Combination): boolean {
    if (of === 'any') return rules.some((rule) => this.#begun.has(rule))
    let earliest: bigint | undefined
    let latest = 0n
    for (const rule of rules) {
      const begunNs = this.#begun.get(rule)
      if (begunNs === undefined) return false
      if (earliest === undefined || begunNs < earliest) earliest = begunNs
      if (begunNs > latest) latest = begunNs
    }
    // Beginnings do not move: a combination that began goes on for as long as all of its rules.
    return isActive || latest - (earliest ?? 0n) <= BigInt(withinNs)
  }
}
