import type { WatchingRule } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { titledDevices } from './event-device.ts'
import { nothingWords } from './event-words.ts'

/** Most named devices. The others are counted. */
const DEVICE_LIMIT_COUNT = 4

/** The active rules, each with its sentence and its devices. */
export function RulesPanel({
  rules,
  devices: known,
}: {
  readonly rules: readonly WatchingRule[]
  readonly devices: readonly DeviceInfo[]
}) {
  const page = usePageState()
  const zone = page.url.tz ?? 'utc'
  const columns: readonly TableColumn<WatchingRule>[] = [
    {
      key: 'rule',
      head: 'Rule',
      kind: 'rowHead',
      cell: ({ name }) => (
        <Link href={page.hrefTo('/incidents', { rule: name })} aria-label={`Incidents of ${name}`}>
          {name}
        </Link>
      ),
    },
    { key: 'condition', head: 'Holds while', isWide: true, look: 'is-wrapping', cell: ({ condition }) => condition },
    {
      key: 'watches',
      head: 'Watches',
      cell: ({ devices, left }) => (devices.length === 0 ? nothingWords(left, zone) : deviceList(devices, known)),
    },
    {
      key: 'why',
      head: 'Why',
      cell: ({ name }) => (
        <Link href={page.hrefTo('/explain', { of: `rule:${name}` })} aria-label={`Explain ${name}`}>
          Explain
        </Link>
      ),
    },
  ]
  return (
    <Panel id="rules-panel" title="Rules" caption={rules.length === 0 ? 'none watches now' : 'that watch now'}>
      {rules.length === 0 ? (
        <p className="panel-note">
          <code className="mono">traceback.rules</code> names the file of rules. Events that are kept stay.
        </p>
      ) : (
        <DataTable label="Table of rules" look="is-stacked" columns={columns} rows={rules} keyOf={({ name }) => name} />
      )}
    </Panel>
  )
}

function deviceList(devices: readonly string[], known: readonly DeviceInfo[]): string {
  if (devices.length <= DEVICE_LIMIT_COUNT)
    return titledDevices(devices, known)
      .map(([, title]) => title)
      .join(', ')
  return countText(devices.length, 'device')
}
