import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { useSeriesOfTypes } from '../../api/resources.ts'
import { podPath } from '../../devices/pod-path.ts'
import { usePageState } from '../../state/time-window.ts'
import { heldGpus, namespacedPod } from '../app/held-gpus.ts'

const TYPES = ['pod_device', 'pod_gpu'] as const
/** Most pods named in a line. A time-shared GPU may have many. */
const NAMED_COUNT = 24

/** Links from a GPU to its pods. Empty if no pod is known. */
export function GpuPods({ device }: { readonly device: DeviceInfo }) {
  const page = usePageState()
  const series = useSeriesOfTypes(TYPES).data?.series ?? []
  const held = heldGpus(series, [device])
  const rows = new Map(
    series.flatMap(({ metric, labels }) => (metric === 'pod_gpus' ? [[namespacedPod(labels), labels] as const] : [])),
  )
  if (held.size === 0) return null
  const pods = [...held.keys()].sort()
  return (
    <p className="page-more">
      {page.isLive ? 'Held by' : 'Held now, not in the window, by'}{' '}
      {pods.slice(0, NAMED_COUNT).map((key, place) => {
        const { app = '' } = rows.get(key) ?? {}
        const slash = key.indexOf('/')
        const [namespace, name] = [key.slice(0, slash), key.slice(slash + 1)]
        return (
          <span key={key}>
            {place > 0 && ', '}
            <Link href={page.hrefTo(podPath({ namespace, name }))}>{name}</Link>
            {app !== '' && ` of ${app}`}
          </span>
        )
      })}
      {pods.length > NAMED_COUNT && ` and ${pods.length - NAMED_COUNT} more`}.
    </p>
  )
}
