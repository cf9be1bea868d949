import type { Labels, RecordType, SourceInfo } from '@sonde/sdk'
import { type AddedLabels, labelOf, labelSpelling } from '@sonde/sdk/internal'
import { nvmlGpuType, nvmlMigType, nvmlProfileType, nvmlXidType } from '../sources/nvml/type.ts'
import { gpuKey } from './gpu-values.ts'
import type { Pod } from './pod-table.ts'
import { holdersOf } from './shares.ts'

/** Options of {@link LabelCopies}. */
export interface LabelCopiesOptions {
  /** Name of this host. */
  readonly host: string
  /** Takes the labels when they change; undefined if no GPU has a pod. */
  readonly set: (labels: AddedLabels | undefined) => void
}

/**
 * The labels of pods for the series of their GPUs. A GPU that several pods share has none: its values are of no single
 * pod. They change only when a pod starts, ends, or gets other labels.
 */
export class LabelCopies {
  readonly #options: LabelCopiesOptions
  #known = ''

  constructor(options: LabelCopiesOptions) {
    this.#options = options
  }

  /** Follows the pods. */
  follow(pods: readonly Pod[]): void {
    const holders = holdersOf(pods)
    const byDevice = new Map<string, Labels>()
    for (const pod of pods)
      for (const device of pod.devices.keys()) if (holders.get(device) === 1) byDevice.set(device, copiedLabels(pod))
    const known = JSON.stringify([...byDevice].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (known === this.#known) return
    this.#known = known
    const { host, set } = this.#options
    set(byDevice.size === 0 ? undefined : new GpuLabels(host, byDevice))
  }
}

/** The labels of series of GPUs, by device. */
class GpuLabels implements AddedLabels {
  readonly names: readonly string[]
  readonly #host: string
  readonly #byDevice: ReadonlyMap<string, Labels>

  constructor(host: string, byDevice: ReadonlyMap<string, Labels>) {
    this.#host = host
    this.#byDevice = byDevice
    this.names = [...new Set([...byDevice.values()].flatMap(Object.keys))]
  }

  of({ name }: RecordType, source: SourceInfo, own: Labels): Labels {
    if (!NAMED_BY_DCGM.has(name)) return NONE
    const host = labelOf(own, 'Hostname') || (source.host ?? this.#host)
    return this.#byDevice.get(gpuKey(host, labelOf(own, 'UUID'), labelOf(own, 'GPU_I_ID'))) ?? NONE
  }
}

const NONE: Labels = {}
/** Types whose series dcgm-exporter has too, with the labels of pods. */
const NAMED_BY_DCGM: ReadonlySet<string> = new Set(
  [nvmlGpuType, nvmlProfileType, nvmlMigType, nvmlXidType].map(({ name }) => name),
)

/** Namespace and name, and the allowed labels as exporters spell them. Of two equal names the first counts. */
function copiedLabels({ namespace, pod, labels }: Pod): Labels {
  const copied: Record<string, string> = {}
  for (const [key, value] of Object.entries(labels === '' ? {} : (JSON.parse(labels) as Labels)))
    copied[labelSpelling(key)] ??= value
  return { ...copied, namespace, pod }
}
