import { type Hint, type IncidentAnswer, spanOfHint } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { useToldSecond } from '../../api/stale.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { hintState, outcomeState, placeWords } from '../../devices/hint-words.ts'
import { countText } from '../../format/number.ts'
import { formatAge, formatClock, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { useHrefThen } from './use-href-then.ts'

/** The other hints of the same cause, in the order in which they began. */
export function EffectsPanel({
  answer,
  devices,
}: {
  readonly answer: IncidentAnswer
  readonly devices: readonly DeviceInfo[]
}) {
  const { incident } = answer
  const page = usePageState()
  const hrefThen = useHrefThen(answer)
  const nowMs = useToldSecond()
  const zone = page.url.tz ?? 'utc'
  const columns: readonly TableColumn<Hint>[] = [
    {
      key: 'state',
      head: 'State',
      cell: (hint) => <StateMark {...(hint.outcome === undefined ? hintState(hint) : outcomeState(hint))} />,
    },
    {
      key: 'seen',
      head: 'What is seen',
      isWide: true,
      look: 'is-wrapping',
      cell: ({ title, sentence }) => (
        <>
          {title}
          <span className="hint-sentence">{sentence}</span>
        </>
      ),
    },
    {
      key: 'device',
      head: 'Device',
      cell: (hint) => {
        const device = devices.find(({ id }) => id === hint.device)
        return device ? <Link href={hrefThen(devicePath(device))}>{deviceTitle(device)}</Link> : placeWords(hint)
      },
    },
    {
      key: 'began',
      head: `Began, ${zoneName(zone, nowMs)}`,
      kind: 'number',
      label: 'began',
      cell: ({ sinceMs }) => formatClock(sinceMs, zone),
    },
    {
      key: 'lasted',
      head: 'Lasted',
      kind: 'number',
      label: 'lasted',
      cell: (hint) => formatAge((spanOfHint(hint).toMs ?? nowMs) - hint.sinceMs),
    },
  ]
  const rows = incident.hints.slice(1).toSorted((a, b) => a.sinceMs - b.sinceMs)
  return (
    <Panel id="effects" title="Of the same cause" caption={captionOf(rows.length, incident.moreHintCount)}>
      <DataTable
        label="Table of hints of the same cause"
        look="is-stacked hints-table"
        columns={columns}
        rows={rows}
        keyOf={({ event }) => event}
        isBoxed
      />
    </Panel>
  )
}

function captionOf(shownCount: number, moreCount = 0): string {
  const all = countText(shownCount + moreCount, 'hint')
  return moreCount === 0 ? all : `${all}, ${shownCount} of them listed`
}
