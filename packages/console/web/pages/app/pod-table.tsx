import type { GpuField, GpuPod, Hint } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { useDevices } from '../../api/devices.ts'
import { useSeriesOfTypes } from '../../api/resources.ts'
import { Empty } from '../../components/empty.tsx'
import { FilterInput } from '../../components/filter-input.tsx'
import { PresentCaption } from '../../components/present-caption.tsx'
import { parseSort, type Sort, sortRows } from '../../components/sort.ts'
import { SortHead } from '../../components/sort-head.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { devicePath } from '../../devices/device.ts'
import { hintState, worstByDevice } from '../../devices/hint-words.ts'
import { countOf, formatQuantity } from '../../format/number.ts'
import { formatAge } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { useMoment } from '../use-moment.ts'
import { useMomentHints } from '../use-moment-hints.ts'
import { FIELD_WORDS, type FieldWords } from './gpu-fields.ts'
import { type HeldGpu, heldGpus, podKey, worstOfPod } from './held-gpus.ts'
import { isUnscheduled } from './waiting-pods.ts'

/** Which devices the containers of pods hold. */
const HELD_TYPES = ['pod_device'] as const
/** GPUs of a pod that are linked: as many as a node has. */
const LINK_COUNT = 16
const BY_POD: Sort = { column: 'pod', direction: 'ascending' }

/** A row a GPU pod; those without numbers first. */
export function PodTable({ pods }: { readonly pods: readonly GpuPod[] }) {
  const page = usePageState()
  const series = useSeriesOfTypes(HELD_TYPES).data?.series
  const devices = useDevices().data?.devices
  const held = useMemo(() => heldGpus(series ?? [], devices ?? []), [series, devices])
  const { hints } = useMomentHints(useMoment())
  const worst = useMemo(() => worstByDevice(hints), [hints])
  const sort = parseSort(page.url.sort, BY_POD)
  const filter = (page.url.q ?? '').toLowerCase()
  const matching = pods.filter(({ name, service, namespace }) =>
    `${name} ${service} ${namespace}`.toLowerCase().includes(filter),
  )
  const rows = sortRows(
    matching,
    sort.direction,
    (pod) => {
      const field = FIELD_WORDS.find(({ field }) => field === sort.column)
      return field ? shownOf(pod, field.field).value : sort.column === 'gpus' ? pod.gpus : pod.name
    },
    (pod) => (isMissing(pod) ? 0 : 1),
  )
  return (
    <section className="panel apps-panel" aria-labelledby="pod-table">
      <header className="panel-head has-line is-centred">
        <h2 id="pod-table" className="panel-title">
          Pods
        </h2>
        <PresentCaption>{captionOf(pods)}</PresentCaption>
        <FilterInput label="Filter pods" />
      </header>
      {rows.length === 0 ? (
        <Empty fact={`Nothing matches "${page.url.q ?? ''}".`}>{countOf(pods.length, 'pod')} searched.</Empty>
      ) : (
        <TableBox label="Table of pods">
          <table className="table has-first-fixed">
            <thead>
              <tr>
                <SortHead column="pod" sort={sort} kind="text">
                  Pod
                </SortHead>
                <th scope="col">Service</th>
                <th scope="col">State</th>
                <SortHead column="gpus" sort={sort}>
                  GPUs
                </SortHead>
                {FIELD_WORDS.map(({ field, short }) => (
                  <SortHead key={field} column={field} sort={sort}>
                    {short}
                  </SortHead>
                ))}
                <th scope="col" className="is-number">
                  Sample age
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((pod) => (
                <tr key={`${pod.namespace}/${pod.name}`}>
                  <th scope="row" title={`${pod.name} of namespace ${pod.namespace}`}>
                    <span className="pod-name">{pod.name}</span>
                  </th>
                  <td title={pod.service}>
                    <span className="pod-name">{pod.service}</span>
                  </td>
                  <td>
                    <PodState
                      pod={pod}
                      trouble={worstOfPod(held.get(podKey({ namespace: pod.namespace, pod: pod.name })), worst)}
                    />
                  </td>
                  <td className="is-number num">
                    {gpusOf(pod)}
                    {pod.sharedWith > 0 && <span className="pod-shared"> · shared with {pod.sharedWith}</span>}{' '}
                    <GpuLinks gpus={held.get(podKey({ namespace: pod.namespace, pod: pod.name }))} />
                  </td>
                  {FIELD_WORDS.map(({ field, quantity }) => (
                    <ValueCell key={field} pod={pod} field={field} quantity={quantity} />
                  ))}
                  <td className="is-number num">{pod.ageMs === null ? '–' : formatAge(pod.ageMs)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
    </section>
  )
}

/** Stands after a number of a whole GPU that others use too. */
const WHOLE_MARK = '*'

function hasDeviceValue({ deviceValues }: GpuPod): boolean {
  return Object.keys(deviceValues).length > 0
}

/** What is shown of a number: that of the pod, else that of the GPUs which it shares. */
function shownOf({ values, deviceValues }: GpuPod, field: GpuField): { value: number; isOfDevice: boolean } {
  const own = values[field]
  if (own !== null) return { value: own, isOfDevice: false }
  return { value: deviceValues[field] ?? Number.NaN, isOfDevice: deviceValues[field] !== undefined }
}

/** One of the nine of a pod, marked where it is that of a whole GPU; why it is not known is told on the cell. */
function ValueCell({ pod, field, quantity }: { readonly pod: GpuPod } & Pick<FieldWords, 'field' | 'quantity'>) {
  const { value, isOfDevice } = shownOf(pod, field)
  const reason = pod.gaps.find(({ fields }) => fields.includes(field))?.reason
  return (
    <td className="is-number num" title={reason}>
      {formatQuantity(quantity, value)}
      {isOfDevice && <abbr title="of the whole GPU, which others use too">{WHOLE_MARK}</abbr>}
    </td>
  )
}

/** The pages of the GPUs that a pod holds: clocks, PCIe, NVLink and throttle reasons. Nothing where none has one. */
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

/** A pod is well where its GPUs are: what a rule sees on one of them is its state. */
function PodState({ pod, trouble }: { readonly pod: GpuPod; readonly trouble: Hint | undefined }) {
  if (trouble !== undefined) return <StateMark tone={hintState(trouble).tone} word={trouble.title} />
  if (pod.isWarming) return <StateMark tone="info" word="warming" />
  if (isUnscheduled(pod)) return <StateMark tone="warning" word="not scheduled" />
  if (isMissing(pod)) return <StateMark tone="warning" word={pod.gpus === 0 ? 'GPU not known' : 'no utilisation'} />
  if (shownOf(pod, 'gpu-util').value === 0) return <StateMark tone="ok" word="idle" />
  return <StateMark tone="ok" word={pod.instances > 0 ? 'MIG' : 'ok'} />
}

/** Has no utilisation though it could: an instance of a GPU that MIG splits has none of its own. */
function isMissing(pod: GpuPod): boolean {
  const { gpus, instances, isWarming } = pod
  return !isWarming && Number.isNaN(shownOf(pod, 'gpu-util').value) && (gpus === 0 || gpus > instances)
}

function gpusOf({ gpus, requested }: GpuPod): string {
  return requested === null || requested === gpus ? String(gpus) : `${gpus} of ${requested}`
}
