import type { HistoryStatus } from '@sonde/sdk/api'
import type { Fact } from '../../components/facts.tsx'
import { formatIn, groupThousands, pickUnit } from '../../format/number.ts'
import { BYTES } from '../../format/quantity.ts'
import { formatClock, formatDateTime, type TimeZoneChoice, zoneName } from '../../format/time.ts'

/** The facts of the store: activity, size and durability. */
export function storeFacts(store: HistoryStatus, zone: TimeZoneChoice): Fact[] {
  if (store.state === 'none') {
    return [{ label: 'Store', value: 'None', caption: 'History is a short ring in memory and ends with the process.' }]
  }
  const isFailing = store.state === 'failing'
  const bytes = (value: number): Pick<Fact, 'value' | 'unit'> => {
    const unit = pickUnit(BYTES, value)
    return { value: formatIn(unit, value), unit: unit.label }
  }
  return [
    {
      label: 'Store',
      value: isFailing ? 'Failing' : 'Writing',
      caption: store.reason || 'as records come',
      ...(isFailing ? { tone: 'critical' as const } : {}),
    },
    { label: 'Size on disk', ...bytes(store.bytes), caption: 'records and roll-ups' },
    {
      label: `Kept since, ${zoneName(zone)}`,
      value: store.oldestMs === null ? '–' : formatDateTime(store.oldestMs, zone, 'minutes'),
      caption: 'start of the history',
    },
    {
      label: `Acknowledged up to, ${zoneName(zone)}`,
      value: store.ackedMs === 0 ? '–' : formatClock(store.ackedMs, zone),
      caption: 'safe on disk',
    },
    {
      label: 'Waiting for the disk',
      ...bytes(store.queuedBytes),
      caption: 'kept in memory',
    },
    {
      label: 'Failures',
      value: groupThousands(String(store.errors)),
      caption: `${groupThousands(String(store.corruptChunks))} pieces unreadable`,
      ...(store.errors + store.corruptChunks > 0 ? { tone: 'warning' as const } : {}),
    },
  ]
}
