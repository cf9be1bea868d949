import { idText } from '../../native/doca/ids.ts'
import { describeRule } from '../describe-rule.ts'
import { type DeviceRing, SAMPLE_AT } from '../feed/device-ring.ts'
import { isoNs } from './iso-ns.ts'
import type { EndRow, LogHead, LogRows, NoteRow, StartRow } from './log-rows.ts'

/** A JSON object per line. Numbers of 64 bits are decimal texts. */
export const jsonRows: LogRows = {
  head({ feed, book, version }: LogHead): string {
    return line({
      row: 'head',
      version: 1,
      sonde: version,
      device: feed.device,
      clock: feed.clock,
      sample_period_ns: feed.samplePeriodNs,
      history_samples: book.historySamples,
      signals: book.signals.map(({ name, dataId }) => ({
        name,
        ...(dataId !== undefined && { data_id: idText(dataId) }),
      })),
      rules: book.rules.map((rule) => ({ name: rule.name, condition: describeRule(rule, book) })),
    })
  },

  sample(ring: DeviceRing, sample: number): string {
    const timeNs = ring.big(sample, SAMPLE_AT.time)
    let values = ring.valueCount === 0 ? '' : `"${ring.valueText(sample, 0)}"`
    for (let value = 1; value < ring.valueCount; value++) values += `,"${ring.valueText(sample, value)}"`
    const raw = ring.big(sample, SAMPLE_AT.raw)
    return `{"row":"sample","time":"${isoNs(timeNs)}","time_ns":"${timeNs}","device_stamp":"${raw}","values":[${values}]}\n`
  },

  start({ event, rule, timeNs, raw, continues, isLate }: StartRow): string {
    const how = { ...(continues !== undefined && { continues }), ...(isLate === true && { late: true }) }
    return line({ row: 'start', ...times(timeNs, raw), event, rule, ...how })
  },

  end({ event, rule, timeNs, raw, reason }: EndRow): string {
    return line({ row: 'end', ...times(timeNs, raw), event, rule, reason })
  },

  note({ kind, timeNs, raw, text }: NoteRow): string {
    return line({ row: 'note', ...times(timeNs, raw), note: kind, text })
  },
}

function times(timeNs: bigint, raw: bigint): object {
  return { time: isoNs(timeNs), time_ns: String(timeNs), device_stamp: String(raw) }
}

function line(row: object): string {
  return `${JSON.stringify(row)}\n`
}
