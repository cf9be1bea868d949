import type { Hint } from '@sonde/sdk/api'

/** Most ended hints that are kept of one incident, the earliest. Policy: the others are only in the history. */
const KEPT_MAX = 20

/**
 * Ended hints of incidents that are still open. Memory forgets an ended hint after an hour, and then the incident would
 * have another first hint, and so another number.
 */
export class Companions {
  /** By the event of an open hint. There are as many as open hints, which have a limit. */
  readonly #ofOpen = new Map<string, readonly Hint[]>()

  /** Hints, and the ended hints that belong to them. */
  with(hints: readonly Hint[]): Hint[] {
    const all = new Map(hints.flatMap(({ event }) => this.#ofOpen.get(event) ?? []).map((one) => [one.event, one]))
    for (const hint of hints) all.set(hint.event, hint)
    return [...all.values()]
  }

  /** Whether the ended hints of a group are known. */
  knows(group: readonly Hint[]): boolean {
    return group.some(({ event }) => this.#ofOpen.has(event))
  }

  /** Keeps the ended hints of all groups with an open hint. */
  note(groups: readonly (readonly Hint[])[]): void {
    for (const group of groups) {
      const ended = group.filter(isEnded).sort((a, b) => a.sinceMs - b.sinceMs)
      for (const hint of group) if (!isEnded(hint)) this.#ofOpen.set(hint.event, ended.slice(0, KEPT_MAX))
    }
  }

  /** Forgets the ended hints of all hints but these, which are open. */
  keepOf(open: readonly Hint[]): void {
    const events = new Set(open.map(({ event }) => event))
    for (const event of this.#ofOpen.keys()) if (!events.has(event)) this.#ofOpen.delete(event)
  }
}

function isEnded({ endedMs }: Hint): boolean {
  return endedMs !== undefined
}
