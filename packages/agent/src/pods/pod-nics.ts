import { type Batch, readRecord, readRecords, type SourceInfo, viewsOf } from '@sonde/sdk'
import { absenceType, labelsOf, type Periods, seriesKey } from '@sonde/sdk/internal'
import { isOver, type Sighting, see, unseen } from './sighting.ts'

/** NICs of pods that are kept. Policy: further ones are not kept. */
const NIC_LIMIT = 16_384
const TYPES: ReadonlySet<string> = new Set(['pod_nic', 'pod_nic_device'])

/** A NIC of a pod. */
export interface PodNic {
  readonly host: string
  readonly pciAddress: string
  /** Address of its adapter; empty if it is one. */
  readonly physicalFunction: string
  /** Its RDMA device, or else its PCI address. */
  readonly name: string
}

interface KnownNic extends PodNic {
  readonly pod: string
  readonly seen: Sighting
}

/** The NICs of pods, as the kubelet and network namespaces name them. */
export class PodNics {
  readonly #host: string
  readonly #periods: Periods
  /** By type and series. */
  readonly #nics = new Map<string, KnownNic>()

  /**
   * @param host Name of this host, for records that name none.
   * @param periods How often sources report, as they say.
   */
  constructor(host: string, periods: Periods) {
    this.#host = host
    this.#periods = periods
  }

  /** NICs that are kept. */
  get count(): number {
    return this.#nics.size
  }

  /** Takes a batch of any type; says whether it changes NICs. */
  take(batch: Batch): boolean {
    const { type, source, bytes, count, symbols, arrivedMs } = batch
    if (type.fingerprint === absenceType.fingerprint) return this.#takeGone(batch)
    if (!TYPES.has(type.name)) return false
    const views = viewsOf(bytes)
    for (let at = 0; at < count * type.layout.recordBytes; at += type.layout.recordBytes) {
      const record = readRecord(type, views, at, symbols)
      const pciAddress = String(record.pci_address ?? '')
      if (pciAddress === '') continue
      const labels = labelsOf(type, source, views, at)
      const key = nicKey(type.name, seriesKey(labels))
      const known = this.#nics.get(key)
      if (known === undefined && this.#nics.size >= NIC_LIMIT) continue
      const seen = known?.seen ?? unseen()
      see(seen, arrivedMs, this.#periods.ofSeries(source, type, labels))
      this.#nics.set(key, {
        ...{ host: source.host ?? this.#host, pciAddress, seen },
        pod: podNicsKey(String(record.namespace), String(record.pod), source),
        physicalFunction: String(record.physical_function ?? ''),
        name: String(record.rdma_device || pciAddress),
      })
    }
    return true
  }

  /** Forgets NICs without a report for three periods. */
  forget(nowMs: number): void {
    for (const [key, { seen }] of this.#nics) if (isOver(seen, nowMs)) this.#nics.delete(key)
  }

  /** The NICs of each pod by {@link podNicsKey}; each once, also if two sources report it. */
  byPod(): ReadonlyMap<string, readonly PodNic[]> {
    const byPod = new Map<string, Map<string, PodNic>>()
    for (const nic of this.#nics.values()) {
      const known = byPod.get(nic.pod) ?? new Map<string, PodNic>()
      byPod.set(nic.pod, known.set(nic.pciAddress, known.get(nic.pciAddress) ?? nic))
    }
    return new Map(Array.from(byPod, ([pod, nics]) => [pod, [...nics.values()]]))
  }

  #takeGone({ bytes, count, symbols }: Batch): boolean {
    if (this.#nics.size === 0) return false
    let isAny = false
    for (const { type, series, field, code } of readRecords(absenceType, viewsOf(bytes), count, symbols))
      if (code === 'gone' && field === '' && this.#nics.delete(nicKey(type, series))) isAny = true
    return isAny
  }
}

/** The key of a pod in {@link PodNics.byPod}; simulated pods apart from others. */
export function podNicsKey(namespace: string, pod: string, source: SourceInfo): string {
  return JSON.stringify([namespace, pod, source.labels.simulated])
}

function nicKey(type: string, series: string): string {
  return `${type} ${series}`
}
