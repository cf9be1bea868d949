import type { SourceInfo } from '@sonde/sdk'
import { ownerOf } from '@sonde/sdk/internal'

/** How long the sources of a connection that broke may take to come back to their series. Unit: milliseconds. */
const RETURN_MS = 2000

type Described = Pick<SourceInfo, 'id' | 'tag' | 'labels'>

/**
 * Reporting sources, and sources of a broken connection. A source that returns within two seconds, on a new connection
 * or from a restarted process, continues its series without a gap. Otherwise its series are gone.
 */
export class Departed {
  readonly #gone: (source: SourceInfo) => void
  /** Number of reporting sources, by their identity. */
  readonly #present = new Map<string, number>()
  readonly #left = new Map<string, { readonly source: SourceInfo; readonly timer: NodeJS.Timeout }>()

  /** @param gone Called for each source that does not come back. */
  constructor(gone: (source: SourceInfo) => void) {
    this.#gone = gone
  }

  /** A source starts to report. Returns the owner whose series it continues; undefined for new series. */
  arrived(source: Described): object | undefined {
    const key = sourceKey(source)
    this.#present.set(key, (this.#present.get(key) ?? 0) + 1)
    const left = this.#left.get(key)
    if (left === undefined) return undefined
    this.#left.delete(key)
    clearTimeout(left.timer)
    return ownerOf(left.source)
  }

  /** A connection has ended. If another source already reports the same series, its sources need not be remembered. */
  over(source: SourceInfo, { mayReturn }: { readonly mayReturn: boolean }): void {
    const key = sourceKey(source)
    const others = (this.#present.get(key) ?? 1) - 1
    if (others > 0) this.#present.set(key, others)
    else this.#present.delete(key)
    if (others > 0 || !mayReturn || this.#left.has(key)) {
      this.#gone(source)
      return
    }
    this.#left.set(key, { source, timer: setTimeout(() => this.#end(key), RETURN_MS).unref() })
  }

  /** The time to return is over. */
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

function sourceKey({ id, tag, labels }: Described): string {
  return JSON.stringify([id, tag, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))])
}
