import { deviceFilter } from '../device-filter.ts'
import type { Sampler, SamplerSet } from '../fast-samples/fast-samples.ts'
import { ATTRIBUTE_BYTES_LIMIT, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { namedPlanesText, readPlanes } from '../rdma-planes.ts'
import type { SourceContext } from '../source.ts'

/** A file is opened again regularly, because its device may have been replaced. */
const READS_PER_OPEN = 1024
const FOLDER = ['class', 'infiniband'] as const
const PORT = /^[1-9]\d{0,8}$/

/** Device and number of a port. */
export interface PortPlace {
  readonly device: string
  readonly port: number
}

/** Selection of sampled ports and counters. */
export interface SampledPorts {
  /** Folder of the port that contains the counters. */
  readonly folder: 'hw_counters' | 'counters'
  /** Names of the sampled counters; the folder may lack some. */
  readonly counters: readonly string[]
  /** Patterns of the devices that are read. */
  readonly devices: readonly string[]
  samplerOf(place: PortPlace, sysfs: KernelFiles): Sampler
}

/** The ports of RDMA devices that have at least one sampled counter. */
export class PortSamplers implements SamplerSet {
  readonly noun = 'port'
  readonly #ports: SampledPorts
  readonly #sysfs: KernelFiles
  readonly #wanted: (device: string) => boolean
  /** Describes the planes among the wanted devices. */
  #planesText = ''

  constructor(ports: SampledPorts, { paths }: Pick<SourceContext, 'paths'>) {
    this.#ports = ports
    this.#wanted = deviceFilter(ports.devices)
    const limits = { fileBytesLimit: ATTRIBUTE_BYTES_LIMIT, readsPerOpen: READS_PER_OPEN }
    this.#sysfs = new KernelFiles(paths.sysfs, limits)
  }

  places(): ReadonlyMap<string, () => Sampler> | ReadFailure {
    const listed = this.#sysfs.list(...FOLDER)
    if (listed instanceof ReadFailure) return listed
    let failure: ReadFailure | undefined
    const namesIn = (...path: readonly string[]) => {
      const names = this.#sysfs.list(...FOLDER, ...path)
      if (!(names instanceof ReadFailure)) return names
      // Many drivers have no such folder, so that is no failure.
      if (names.kind !== 'missing') failure = names
      return []
    }
    const { folder, counters, samplerOf } = this.#ports
    const planes = readPlanes(listed, this.#sysfs)
    const wanted = listed.filter(this.#wanted)
    this.#planesText = namedPlanesText(wanted, planes)
    const devices = wanted.filter((name) => !planes.has(name))
    const places = devices.flatMap((device) =>
      namesIn(device, 'ports')
        .filter((port) => PORT.test(port))
        .filter((port) => namesIn(device, 'ports', port, folder).some((name) => counters.includes(name)))
        .map((port) => ({ device, port: Number(port) })),
    )
    if (places.length === 0 && failure !== undefined) return failure
    return new Map(places.map((place) => [`${place.device}/${place.port}`, () => samplerOf(place, this.#sysfs)]))
  }

  nothing(): string {
    const folder = `${this.#sysfs.root}/${FOLDER.join('/')}`
    const reason = `no port of a wanted device of ${folder} has a counter in ${this.#ports.folder} that is sampled`
    return [reason, this.#planesText].filter(Boolean).join('; ')
  }

  close(): void {
    this.#sysfs.close()
  }
}

/** Parts of the path of a port below the root of sysfs. */
export function pathOf({ device, port }: PortPlace): string[] {
  return [...FOLDER, device, 'ports', String(port)]
}
