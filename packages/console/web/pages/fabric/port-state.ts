import type { StateTone } from '../../components/state-mark.tsx'
import { lastValue, type ReadSpan } from '../../devices/device-reading.ts'
import { hintState } from '../../devices/hint-words.ts'
import type { MomentHints } from '../../devices/moment-hints.ts'
import { isDowntrained, linkReading, linkWords } from '../../devices/pcie.ts'
import { titleOf } from '../../format/names.ts'
import { formatQuantity } from '../../format/number.ts'
import { BITS_PER_SECOND } from '../../format/quantity.ts'
import type { PortRow } from './port-data.ts'

/** Words of the logical states of a port. */
const STATE_WORDS: ReadonlyMap<number, string> = new Map([
  [1, 'Down'],
  [2, 'Initialising'],
  [3, 'Armed'],
  [4, 'Active'],
  [5, 'Active'],
])

/** State of a port: icon and word. */
export interface PortState {
  readonly tone: StateTone
  readonly word: string
}

/** The state of a port by its hints, else by the driver. It has no check mark if the hints are unknown. */
export function portState(
  { device, columns }: PortRow,
  { hints, isKnown }: Pick<MomentHints, 'hints' | 'isKnown'>,
  span: ReadSpan,
): PortState {
  if (device.state === 'gone') return { tone: 'absent', word: 'Gone' }
  const code = lastValue(columns.state, span)
  const word = STATE_WORDS.get(code)
  const hint = hints.find((candidate) => candidate.device === device.id && candidate.severity !== 'notice')
  const isDown = code >= 1 && code < 4
  if (hint) {
    const { tone } = hintState(hint)
    return { tone, word: isDown && word ? word : titleOf(hint.rule) }
  }
  // A port that was never up is unused.
  if (isDown) return { tone: 'absent', word: word ?? 'Down' }
  if (word === undefined) return { tone: 'absent', word: 'State unknown' }
  return { tone: isKnown ? 'ok' : 'absent', word }
}

/** Speed and lanes of the link: `400 Gb/s ×4`; empty if both are unknown. */
export function lineWords({ columns }: PortRow, span: ReadSpan): string {
  const rate = lastValue(columns.lineRate, span)
  const lanes = lastValue(columns.lanes, span)
  return [rate > 0 ? formatQuantity(BITS_PER_SECOND, rate) : '', lanes > 0 ? `×${lanes}` : ''].filter(Boolean).join(' ')
}

/** The PCIe link of a port: `Gen5 ×16`; empty if unknown. */
export function busWords({ device, columns }: PortRow, span: ReadSpan): string {
  return linkWords(linkReading(columns, device, span))
}

/** Whether the PCIe link of a port runs below its capability. */
export function isBusWorse({ device, columns }: PortRow, span: ReadSpan): boolean {
  return isDowntrained(linkReading(columns, device, span))
}
