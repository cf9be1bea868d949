import { spreadsheetText } from '@sonde/sdk/internal'
import { idText } from '../../native/doca/ids.ts'
import { describeRule } from '../describe-rule.ts'
import { type DeviceRing, SAMPLE_AT } from '../feed/device-ring.ts'
import { isoNs } from './iso-ns.ts'
import type { EndRow, LogHead, LogRows, NoteRow, StartRow } from './log-rows.ts'

/**
 * Rows with commas, quoted as in RFC 4180. The first cell is the kind of row. Lines that begin with `#` are the head of
 * the file.
 */
export const csvRows: LogRows = {
  head({ feed, book, version }: LogHead): string {
    const lines = [
      `# Sonde ${version}, events log of traceback, version 1`,
      `# device: ${oneLine(feed.device)}`,
      `# clock: ${feed.clock === 'rtc' ? 'of the device (RTC)' : 'of the host; the device runs free'}`,
      `# sample period: ${feed.samplePeriodNs} ns`,
      `# history: ${book.historySamples} samples, up to ${2 * book.historySamples} before an event`,
      ...book.signals.map(
        ({ name, dataId }) => `# signal: ${oneLine(name)} ${dataId === undefined ? '' : idText(dataId)}`,
      ),
      ...book.rules.map((rule) => `# rule: ${oneLine(rule.name)}: ${oneLine(describeRule(rule, book))}`),
      ['row', 'time', 'device_stamp', ...book.signals.map(({ name }) => quoted(name))].join(','),
    ]
    return `${lines.join('\n')}\n`
  },

  sample(ring: DeviceRing, sample: number): string {
    let row = `sample,${isoNs(ring.big(sample, SAMPLE_AT.time))},${ring.big(sample, SAMPLE_AT.raw)}`
    for (let value = 0; value < ring.valueCount; value++) row += `,${ring.valueText(sample, value)}`
    return `${row}\n`
  },

  start({ event, rule, timeNs, raw, continues, isLate }: StartRow): string {
    const how = continues !== undefined ? `continues ${continues}` : isLate === true ? 'late' : ''
    return `start,${isoNs(timeNs)},${raw},${event},${quoted(rule)},${how}\n`
  },

  end({ event, rule, timeNs, raw, reason }: EndRow): string {
    return `end,${isoNs(timeNs)},${raw},${event},${quoted(rule)},${reason}\n`
  },

  note({ kind, timeNs, raw, text }: NoteRow): string {
    return `note,${isoNs(timeNs)},${raw},${kind},${quoted(text)}\n`
  },
}

/** A text as one cell, which is never a formula. */
function quoted(text: string): string {
  return `"${spreadsheetText(text).replaceAll('"', '""')}"`
}

/** A name on the line of a comment. */
function oneLine(text: string): string {
  return JSON.stringify(text)
}
