import type { GpuField, GpuPod } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { useDevices } from '../../api/devices.ts'
import { useSeriesOfTypes } from '../../api/resources.ts'
import { DataTable } from '../../components/data-table.tsx'
import { NothingMatches } from '../../components/nothing-matches.tsx'
import { Panel } from '../../components/panel.tsx'
import { SICKEST_FIRST } from '../../components/sickness.ts'
import { sortRows } from '../../components/sort.ts'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { useChosenRows } from '../../components/use-chosen-rows.ts'
import { devicePath } from '../../devices/device.ts'
import { podPath } from '../../devices/pod-path.ts'
import { countText, formatQuantity } from '../../format/number.ts'
import { formatAge } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { attributionWords } from './attribution-words.ts'
import { FIELD_WORDS } from './gpu-fields.ts'
import { type HeldGpu, heldGpus, namespacedPod } from './held-gpus.ts'

/** Types of the records that list the devices of containers, and of pods. */
const HELD_TYPES = ['pod_device', 'pod_gpu'] as const
/** Most linked GPUs of a pod: as many as a node has. */
const LINK_COUNT = 16

/** One row per GPU pod; the sickest first. */
export function GpuPodTable({ pods }: { readonly pods: readonly GpuPod[] }) {
  const series = useSeriesOfTypes(HELD_TYPES).data?.series
  const devices = useDevices().data?.devices
  const held = useMemo(() => heldGpus(series ?? [], devices ?? []), [series, devices])
  const page = usePageState()
  const gpusHeldBy = ({ namespace, name }: GpuPod) => held.get(namespacedPod({ namespace, pod: name }))
  const columns: readonly TableColumn<GpuPod>[] = [
    {
      key: 'pod',
      head: 'Pod',
      kind: 'rowHead',
      title: ({ name, namespace }) => `${name} of namespace ${namespace}`,
      cell: (pod) => (
        <Link className="pod-name" href={page.hrefTo(podPath(pod))}>
          {pod.name}
        </Link>
      ),
      sortKey: ({ name }) => name,
    },
    {
      key: 'service',
      head: 'Service',
      title: ({ service }) => service,
      cell: ({ service }) => <span className="pod-name">{service}</span>,
    },
    {
      key: 'state',
      head: 'State',
      cell: ({ condition: { tone, words } }) => <StateMark tone={tone} word={words} />,
      sortKey: ({ condition }) => -condition.rank,
    },
    {
      key: 'gpus',
      head: 'GPUs',
      kind: 'number',
      cell: (pod) => (
        <>
          {gpusOf(pod)}
          {pod.sharedWith > 0 && <span className="pod-shared"> · shared with {pod.sharedWith}</span>}{' '}
          <GpuLinks gpus={gpusHeldBy(pod)} />
        </>
      ),
      sortKey: ({ gpus }) => gpus,
    },
    ...VALUE_COLUMNS,
    {
      key: 'age',
      head: 'Sample age',
      kind: 'number',
      cell: ({ ageMs }) => (ageMs === null ? '–' : formatAge(ageMs)),
    },
    {
      key: 'attribution',
      head: 'Known by',
      title: ({ attribution }) => attribution?.notes.join('; ') || undefined,
      cell: ({ attribution }) => <span className="pod-name">{attributionWords(attribution)}</span>,
    },
  ]
  const chosen = useChosenRows(
    sortRows(pods, 'ascending', ({ name }) => name),
    {
      columns,
      fallback: SICKEST_FIRST,
      wordsOf: ({ name, service, namespace }) => `${name} ${service} ${namespace}`,
    },
  )
  return (
    <Panel id="pod-table" title="Pods" caption={captionOf(pods)} isPresent filter="Filter pods" className="apps-panel">
      {chosen.rows.length === 0 ? (
        <NothingMatches searched={countText(pods.length, 'pod')} />
      ) : (
        <DataTable
          label="Table of pods"
          look="has-first-fixed"
          columns={columns}
          keyOf={({ namespace, name }) => `${namespace}/${name}`}
          {...chosen}
        />
      )}
    </Panel>
  )
}

/** Marks a number of a whole GPU that other pods use too. */
const WHOLE_MARK = '*'

function hasDeviceValue({ deviceValues }: GpuPod): boolean {
  return Object.keys(deviceValues).length > 0
}

/** The value to show: the value of the pod, else the value of the GPUs that it shares. */
function shownOf({ values, deviceValues }: GpuPod, field: GpuField): { value: number; isOfDevice: boolean } {
  const own = values[field]
  if (own !== null) return { value: own, isOfDevice: false }
  return { value: deviceValues[field] ?? Number.NaN, isOfDevice: deviceValues[field] !== undefined }
}

/** The nine numbers of a pod. A number of a whole GPU is marked, and an empty cell gives the reason. */
const VALUE_COLUMNS: readonly TableColumn<GpuPod>[] = FIELD_WORDS.map(({ field, short, quantity }) => ({
  key: field,
  head: short,
  kind: 'number',
  title: ({ gaps }) => gaps.find(({ fields }) => fields.includes(field))?.reason,
  cell: (pod) => {
    const { value, isOfDevice } = shownOf(pod, field)
    return (
      <>
        {formatQuantity(quantity, value)}
        {isOfDevice && <abbr title="of the whole GPU, which others use too">{WHOLE_MARK}</abbr>}
      </>
    )
  },
  sortKey: (pod) => shownOf(pod, field).value,
}))

/**
 * Links to the pages of the GPUs of a pod, with clocks, PCIe, NVLink and throttle reasons. Empty if no GPU has a page.
 */
function GpuLinks({ gpus = [] }: { readonly gpus?: readonly HeldGpu[] | undefined }) {
  const page = usePageState()
  if (gpus.length === 0) return null
  return (
    <span className="pod-gpus">
      {gpus.slice(0, LINK_COUNT).map(({ device, instance }) => {
        const name = instance === '' ? (device.labels.gpu ?? device.name) : `${device.labels.gpu}/${instance}`
        return (
          <Link key={name} href={page.hrefTo(devicePath(device))} aria-label={`GPU ${name}`}>
            {name}
          </Link>
        )
      })}
      {gpus.length > LINK_COUNT && '…'}
    </span>
  )
}

function captionOf(pods: readonly GpuPod[]): string {
  const words = "ratios are means of a pod's GPUs, memory and power their sums"
  return pods.some(hasDeviceValue) ? `${words}; ${WHOLE_MARK} of the whole GPU, which others use too` : words
}

function gpusOf({ gpus, requested }: GpuPod): string {
  return requested === null || requested === gpus ? String(gpus) : `${gpus} of ${requested}`
}
