import { Missing } from '../field-absences.ts'
import type { PciAttributes, PciRecord } from './attributes.ts'
import { bandwidthOf } from './bandwidth.ts'
import { parseSpeed, parseWidth } from './parse.ts'

const VIRTUAL = new Missing(
  'unsupported',
  'a virtual function has no own link; it uses the link of its physical function',
)
const NO_WIDTH = new Missing('unsupported', 'the link is down, or the port has none')
const NO_SPEED = new Missing('unsupported', 'the kernel does not know the speed')
const NO_BANDWIDTH = new Missing('unsupported', 'speed or width of the link is not known')

/** A width of configuration space that reads as ones. */
const ONES_WIDTH = 63
/** Widths that are none: no link, no answer, and the kernel's word for one that it could not find out. */
const NO_WIDTHS: ReadonlySet<number> = new Set([0, ONES_WIDTH, 255])

/** Files and fields of a link as it runs, and at its best. */
const LINKS = {
  current: {
    files: { speed: 'current_link_speed', width: 'current_link_width' },
    speed: 'current_link_speed_transfers_per_second',
    width: 'current_link_width_lanes',
    bandwidth: 'current_link_bandwidth_bytes_per_second',
  },
  max: {
    files: { speed: 'max_link_speed', width: 'max_link_width' },
    speed: 'max_link_speed_transfers_per_second',
    width: 'max_link_width_lanes',
    bandwidth: 'max_link_bandwidth_bytes_per_second',
  },
} as const

/** The link as it runs, or at its best. */
export type PciLinkState = keyof typeof LINKS

/** A record with the fields of a link as it runs, at its best, or both. */
export type LinkRecord = Partial<Pick<PciRecord, (typeof LINKS)[PciLinkState]['speed' | 'width' | 'bandwidth']>>

/** Reads speed and width of a link into a record, with the bandwidth that they make. */
export function readLink(state: PciLinkState, attributes: PciAttributes, record: LinkRecord): void {
  const { files, speed, width, bandwidth } = LINKS[state]
  const { absences } = attributes
  const transfersPerSecond = attributes.value(files.speed, parseSpeed)
  const lanes = attributes.value(files.width, parseWidth)
  const isLost = state === 'current' && lanes === ONES_WIDTH && transfersPerSecond === 'unknown'
  const lost = isLost
    ? attributes.wrong(files.width, 'is 63; the device does not answer: its configuration space reads as ones')
    : undefined
  record[speed] = absences.settle(speed, transfersPerSecond === 'unknown' ? (lost ?? NO_SPEED) : transfersPerSecond)
  record[width] = absences.settle(width, lanes instanceof Missing || !NO_WIDTHS.has(lanes) ? lanes : (lost ?? NO_WIDTH))
  const bytes = bandwidthOf(record[speed], record[width])
  record[bandwidth] = absences.settle(bandwidth, bytes ?? lost ?? NO_BANDWIDTH)
}

/** Says that a virtual function has no link. */
export function lackLink({ absences }: PciAttributes, record: PciRecord): void {
  for (const { speed, width, bandwidth } of Object.values(LINKS)) {
    for (const field of [speed, width, bandwidth]) record[field] = absences.settle<number>(field, VIRTUAL)
  }
}
