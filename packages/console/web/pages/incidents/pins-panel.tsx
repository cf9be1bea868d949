import type { DeviceInfo } from '../../api/devices.ts'
import { usePins } from '../../api/incidents.ts'
import { Panel } from '../../components/panel.tsx'
import { countText } from '../../format/number.ts'
import { IncidentTable } from './incident-table.tsx'

/** The incidents whose windows people keep; nothing if there are none. */
export function PinsPanel({ devices }: { readonly devices: readonly DeviceInfo[] }) {
  const pins = usePins().data?.pins ?? []
  if (pins.length === 0) return null
  return (
    <Panel id="pins" title="Pinned" caption={`${countText(pins.length, 'window')} that the history does not remove`}>
      <IncidentTable incidents={pins.map(({ incident }) => incident)} devices={devices} />
    </Panel>
  )
}
