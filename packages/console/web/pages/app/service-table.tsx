import type { GpuNumber, GpuService } from '@sonde/sdk/api'
import { useState } from 'react'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText, formatQuantity } from '../../format/number.ts'
import type { DisplayQuantity } from '../../format/quantity.ts'
import { FIELD_WORDS, type FieldWords } from './gpu-fields.ts'

/** Services listed at first, so that the charts below stay close. */
const SHOWN_COUNT = 8

const COLUMNS: readonly TableColumn<GpuService>[] = [
  { key: 'service', head: 'Service', kind: 'rowHead', cell: (service) => <ServiceName service={service} /> },
  ...FIELD_WORDS.map(
    (words): TableColumn<GpuService> => ({
      key: words.field,
      head: words.label,
      cell: (service) => <ServiceValue service={service} of={words} />,
    }),
  ),
]

/** One row per service: the nine numbers over its pods at the latest sample, with their minimum and maximum. */
export function ServiceTable({ services }: { readonly services: readonly GpuService[] }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? services : services.toSorted((a, b) => b.gpus - a.gpus).slice(0, SHOWN_COUNT)
  return (
    <Panel
      id="service-table"
      title="Services"
      caption="means of the pods that have a number, and what lies between least and most"
      isPresent
      className="apps-panel"
    >
      <DataTable
        label="Table of services"
        look="has-first-fixed service-table"
        columns={COLUMNS}
        rows={shown}
        keyOf={({ name }) => name}
      />
      {services.length > SHOWN_COUNT && (
        <p className="panel-note">
          {!isWhole && `The ${SHOWN_COUNT} services with the most GPUs. `}
          <button type="button" className="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? `Show ${SHOWN_COUNT} services` : `Show all ${services.length} services`}
          </button>
        </p>
      )}
    </Panel>
  )
}

function ServiceName({ service: { name, pods, gpus, warming } }: { readonly service: GpuService }) {
  return (
    <>
      <span className="service-name" title={name}>
        {name === '' ? 'no service' : name}
      </span>
      <span className="service-note num">
        {countText(pods, 'pod')} · {countText(gpus, 'GPU')}
        {warming.length > 0 && ` · ${warming.length} warming`}
      </span>
    </>
  )
}

function ServiceValue({
  service: { pods, values, deviceValues },
  of: { field, quantity },
}: {
  readonly service: GpuService
  readonly of: FieldWords
}) {
  return (
    <>
      <span className="service-value num">
        {formatQuantity(quantity, (values[field] ?? deviceValues[field])?.avg ?? Number.NaN)}
      </span>
      <span className="service-note num">
        {values[field] === null && deviceValues[field] !== undefined
          ? deviceWords(deviceValues[field], quantity)
          : rangeWords(values[field], quantity, pods)}
      </span>
    </>
  )
}

/** Explains that a number belongs to shared GPUs and not to pods, with the minimum and maximum of these GPUs. */
function deviceWords({ min, max, count }: GpuNumber, quantity: DisplayQuantity): string {
  const [low, high] = [formatQuantity(quantity, min), formatQuantity(quantity, max)]
  const of = `of ${countText(count, 'whole GPU')}`
  return low === high ? of : `${of} · ${low} to ${high}`
}

/** Minimum and maximum of the pods, with the number of pods if some lack the value. */
function rangeWords(number: GpuNumber | null, quantity: DisplayQuantity, pods: number): string {
  if (number === null) return 'no pod has it'
  const { min, max, count } = number
  const of = count < pods ? `${count} of ${pods} pods` : ''
  const [low, high] = [formatQuantity(quantity, min), formatQuantity(quantity, max)]
  return [low === high ? (count > 1 ? 'all alike' : '') : `${low} to ${high}`, of].filter(Boolean).join(' · ')
}
