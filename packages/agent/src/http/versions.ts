import { release } from 'node:os'
import type { PartVersion, VersionKind, VersionsAnswer } from '@sonde/sdk/api'
import { type LatestSeries, labelOf } from '@sonde/sdk/internal'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import { isSimulatedSeries } from '../devices/world.ts'
import { latestSeries } from '../pipeline/latest.ts'
import { answerRoute } from './answer-route.ts'

/** Longer texts are cut: a client may report any text. Unit: characters. */
const TEXT_LENGTH_MAX = 100
/** Policy: further versions are left out. */
const VERSION_COUNT_MAX = 64

/** `GET /api/v1/versions`: Sonde, kernel, drivers, firmware and DOCA of the node. */
export function versionsRoute(app: FastifyInstance, agent: Agent): void {
  answerRoute(app, '/api/v1/versions', () => describeVersions(agent))
}

async function describeVersions(agent: Agent): Promise<VersionsAnswer> {
  const series = (metric: string) => ofRealParts(latestSeries(agent.recent, { metric }))
  const ports = series('rdma_port_info')
  const kernel = release()
  const rdmaDrivers = new Set(ports.map(({ labels }) => labelOf(labels, 'driver')))
  // Most drivers are a part of the kernel, and say its release.
  const isOwnDriver = ([, name, version]: Part) => rdmaDrivers.has(name) || version !== kernel
  const parts: Part[] = [
    ['Sonde', '', agent.options.version],
    ['kernel', '', kernel],
    ...series('nvml_gpu_info').map((each) => partOf('GPU driver', '', each, 'driver')),
    ...series('ethtool_link_info')
      .map((each) => partOf('NIC driver', labelOf(each.labels, 'driver'), each, 'driver_version'))
      .filter(isOwnDriver),
    ...(await docaVersion(agent)),
    // A device with several ports has one firmware.
    ...onePerDevice(ports).map((each) => partOf('firmware', labelOf(each.labels, 'model'), each, 'firmware')),
  ]
  return { node: agent.node, versions: counted(parts.filter(([, , version]) => version !== '')) }
}

type Part = readonly [of: VersionKind, about: string, version: string]
type Series = Pick<LatestSeries, 'labels'>

function partOf(of: VersionKind, about: string, { labels }: Series, name: string): Part {
  return [of, about, labelOf(labels, name)]
}

/** Without the parts of a simulated node that runs beside the real one. */
function ofRealParts(series: readonly Series[]): readonly Series[] {
  const real = series.filter(({ labels }) => !isSimulatedSeries(labels))
  return real.length > 0 ? real : series
}

function onePerDevice(ports: readonly Series[]): readonly Series[] {
  return [...new Map(ports.map((port) => [labelOf(port.labels, 'rdma_device'), port])).values()]
}

async function docaVersion({ dataSources, options }: Agent): Promise<readonly Part[]> {
  const asked = dataSources.find(({ definition }) => definition.versions !== undefined)
  const versions = (await asked?.definition.versions?.(options.config.paths)) ?? []
  // Words in place of a version say why there is none.
  return versions.flatMap(({ of, version }): Part[] =>
    of === 'DOCA' && /^\d/.test(version) ? [['DOCA', '', version]] : [],
  )
}

function counted(parts: readonly Part[]): readonly PartVersion[] {
  const groups = Map.groupBy(parts, (part) => JSON.stringify(part))
  const listed = [...groups.values()].map(([first, ...more]): PartVersion => {
    const [of, about, version] = first as Part
    const cut = (text: string) => text.slice(0, TEXT_LENGTH_MAX)
    return { of, about: cut(about), version: cut(version), count: more.length + 1 }
  })
  return listed.slice(0, VERSION_COUNT_MAX)
}
