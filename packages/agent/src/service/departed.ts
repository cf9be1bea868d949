import type { SourceInfo } from '@sonde/sdk'
import { ownerOf } from '@sonde/sdk/internal'

/** How long the sources of a connection that broke may take to come back to their series. Unit: milliseconds. */
const RETURN_MS = 2000

type Described = Pick<SourceInfo, 'id' | 'tag' | 'labels'>

/**
 * Which sources report, and which did on a connection that broke. A source that comes back within two seconds, on
 * another connection of its client or from a process that was started again, goes on with its series, so that nobody
 * sees a gap. Else they are gone.
 */
export class Departed {
  readonly #gone: (source: SourceInfo) => void
  /** How many sources report, by what describes them. */
  readonly #present = new Map<string, number>()
  readonly #left = new Map<string, { readonly source: SourceInfo; readonly timer: NodeJS.Timeout }>()

  /** @param gone Called for each source that does not come back. */
  constructor(gone: (source: SourceInfo) => void) {
    this.#gone = gone
  }

  /** A source begins to report. Gives whose series it goes on with; undefined if it is another than before. */
  arrived(source: Described): object | undefined {
    const key = keyOf(source)
    this.#present.set(key, (this.#present.get(key) ?? 0) + 1)
    const left = this.#left.get(key)
    if (left === undefined) return undefined
    this.#left.delete(key)
    clearTimeout(left.timer)
    return ownerOf(left.source)
  }

  /** A connection is over. Whoever reports the same series meanwhile need not wait until nobody comes back. */
  over(source: SourceInfo, { mayReturn }: { readonly mayReturn: boolean }): void {
    const key = keyOf(source)
    const others = (this.#present.get(key) ?? 1) - 1
    if (others > 0) this.#present.set(key, others)
    else this.#present.delete(key)
    if (others > 0 || !mayReturn || this.#left.has(key)) {
      this.#gone(source)
      return
    }
    this.#left.set(key, { source, timer: setTimeout(() => this.#end(key), RETURN_MS).unref() })
  }

  /** Nobody comes back any more. */
  close(): void {
    for (const key of [...this.#left.keys()]) this.#end(key)
  }

  #end(key: string): void {
    const left = this.#left.get(key)
    if (left === undefined) return
    this.#left.delete(key)
    clearTimeout(left.timer)
    this.#gone(left.source)
  }
}

function keyOf({ id, tag, labels }: Described): string {
  return JSON.stringify([id, tag, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))])
}
