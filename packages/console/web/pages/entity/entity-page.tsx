import type { ListedMetric, ListedType } from '@sonde/sdk/api'
import { useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import { useTypes } from '../../api/resources.ts'
import { Empty } from '../../components/empty.tsx'
import type { Fact } from '../../components/facts.tsx'
import { ENTITIES_PATH } from '../../devices/device.ts'
import type { DeviceReading } from '../../devices/device-reading.ts'
import { titleOf } from '../../format/names.ts'
import { countText } from '../../format/number.ts'
import { quantityOf } from '../../format/quantity.ts'
import { DeviceOf } from '../device/device-of.tsx'
import { DevicePage } from '../device/device-page.tsx'
import type { DeviceReadings } from '../device/device-readings.ts'
import { numberFact } from '../device/facts.ts'
import { entityPanels, fieldTitle, PANEL_LIMIT_COUNT, typesOf } from './entity-panels.ts'

const PARENT = { label: 'Entities', path: ENTITIES_PATH } as const
const SOUGHT = { one: 'entity', many: 'entities', ...PARENT } as const
const NO_TYPES: readonly ListedType[] = []
/** Most gauges among the facts. */
const GAUGE_FACT_COUNT = 4

/** The page of an entity without a special page: its sources, its relations, and all its series. */
export function EntityPage({ id }: { readonly id: string }) {
  return (
    <DeviceOf id={id} sought={SOUGHT}>
      {(device) => <Entity key={device.kind} device={device} />}
    </DeviceOf>
  )
}

function Entity({ device }: { readonly device: DeviceInfo }) {
  const { data } = useTypes()
  const types = useMemo(() => typesOf(device.kind, data?.types ?? NO_TYPES), [device.kind, data])
  const names = useMemo(() => types.map(({ name }) => name), [types])
  const sections = useMemo(() => [{ id: 'charts', title: '', panels: entityPanels(types) }], [types])
  const defining = types.find(({ name }) => name === device.type)
  const fieldCount = types.reduce((sum, { fields }) => sum + fields.length, 0)
  return (
    <DevicePage
      device={device}
      parent={PARENT}
      note={[defining?.description ?? '', device.host ?? '', device.simulated ? 'simulated' : '']}
      sections={sections}
      types={names}
      facts={(readings) => entityFacts(device, defining, readings)}
    >
      {data !== undefined && fieldCount === 0 && (
        <Empty fact="It has no series.">No type that tells of it has a counter or a gauge.</Empty>
      )}
      {fieldCount > PANEL_LIMIT_COUNT && (
        <p className="page-more">{countText(fieldCount - PANEL_LIMIT_COUNT, 'further field')} in the table alone.</p>
      )}
    </DevicePage>
  )
}

function entityFacts(
  { labels, type = '', source = '' }: DeviceInfo,
  defining: ListedType | undefined,
  { newest }: DeviceReadings,
): readonly Fact[] {
  const key = defining?.entity?.key ?? Object.keys(labels)
  const gauges = defining?.fields.filter(({ role }) => role === 'gauge') ?? []
  return [
    ...key.map((name) => ({ label: titleOf(name), value: labels[name] ?? '', isFixed: true })),
    ...gauges.slice(0, GAUGE_FACT_COUNT).map((field) => gaugeFact(field, newest(field.metric))),
    { label: 'Reported by', value: source, caption: `type ${type}`, isFixed: true },
  ]
}

function gaugeFact(field: ListedMetric, value: DeviceReading): Fact {
  return numberFact(fieldTitle(field), quantityOf({ ...field, function: 'last' }), value)
}
