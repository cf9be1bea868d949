import { type Batch, readRecords, viewsOf } from '@sonde/sdk'
import { clockType, gapType } from '@sonde/sdk/internal'
import type { KeptGap } from '../keep/kept-index.ts'

/** Most remembered gaps; the oldest are dropped first. */
const GAPS_MAX = 4096
/** Most device clocks with a known error. */
const CLOCKS_MAX = 4096

interface NoticedGap {
  readonly source: string
  readonly type: string
  /** Text of the labels; empty for all series of the type. */
  readonly series: string
  readonly gap: KeptGap
}

/** Notices of sources about their samples: gaps, and the errors of device clocks. */
export class SourceNotices {
  readonly #gaps: NoticedGap[] = []
  /** By source and device. Unit: nanoseconds. */
  readonly #errors = new Map<string, number>()

  /** Takes the gaps and clocks from a batch of the agent's own sources. */
  take(batch: Batch): void {
    if (batch.origin !== 'own') return
    if (batch.type === gapType || batch.type.fingerprint === gapType.fingerprint) this.#takeGaps(batch)
    else if (batch.type === clockType || batch.type.fingerprint === clockType.fingerprint) this.#takeClocks(batch)
  }

  /** Largest error of a device's times; 0 if the device has no clock. Unit: milliseconds. */
  errorMs(source: string, device: string): number {
    return (this.#errors.get(`${source}\n${device}`) ?? 0) / 1e6
  }

  /** Gaps of a series within a time span. */
  gapsOf(
    of: { readonly source: string; readonly type: string; readonly series: string },
    fromMs: number,
    toMs: number,
  ): KeptGap[] {
    return this.#gaps.flatMap(({ source, type, series, gap }) => {
      const isOf = source === of.source && type === of.type && (series === '' || series === of.series)
      return isOf && gap.toMs >= fromMs && gap.fromMs <= toMs ? [gap] : []
    })
  }

  #takeGaps({ bytes, count, symbols, source }: Batch): void {
    for (const { type, series = '', from_ns, to_ns, records } of readRecords(
      gapType,
      viewsOf(bytes.slice()),
      count,
      symbols,
    )) {
      const times = { fromMs: Number(from_ns) / 1e6, toMs: Number(to_ns) / 1e6 }
      this.#gaps.push({ source: source.id, type, series, gap: { ...times, samples: Number(records) } })
    }
    if (this.#gaps.length > GAPS_MAX) this.#gaps.splice(0, this.#gaps.length - GAPS_MAX)
  }

  #takeClocks({ bytes, count, symbols, source }: Batch): void {
    for (const { device, error_ns } of readRecords(clockType, viewsOf(bytes.slice()), count, symbols)) {
      const key = `${source.id}\n${device}`
      if (this.#errors.has(key) || this.#errors.size < CLOCKS_MAX) this.#errors.set(key, Number(error_ns))
    }
  }
}
