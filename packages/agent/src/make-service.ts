import type { Prometheus } from '@sonde/sdk'
import type { AgentOptions } from './agent-options.ts'
import { hardwareTypes, ownKinds } from './devices/own-kinds.ts'
import { INFO_METRICS } from './infos/type.ts'
import type { Faults } from './pipeline/faults.ts'
import type { Router } from './pipeline/router.ts'
import { appGpuType, podGpuNicType, podGpuType, sharedGpuType } from './pods/type.ts'
import { Service } from './service/service.ts'

/** Options of {@link makeService}. */
export interface ServiceParts extends Pick<AgentOptions, 'config' | 'log'> {
  readonly router: Router
  readonly prometheus: Prometheus
  readonly faults: Faults
}

/** The telemetry service of an agent; undefined if it is switched off. */
export function makeService({ config, log, router, prometheus, faults }: ServiceParts): Service | undefined {
  const { service, dataSources } = config
  if (!service.enabled) return undefined
  const types = dataSources.flatMap(({ definition }) => definition.types)
  const made = [
    podGpuType,
    podGpuNicType,
    sharedGpuType,
    appGpuType,
    ...INFO_METRICS.map(({ type }) => type),
    ...hardwareTypes(types),
  ]
  return new Service({
    config: service,
    log,
    faults,
    sinks: router.sinks,
    ownKinds: ownKinds(types),
    madeMetrics: new Set(made.flatMap(({ metrics }) => [...metrics.values()])),
    waitedFor: router.routes.filter(({ acknowledges }) => acknowledges).map(({ sink }) => sink),
    accept: (batch) => router.accept(batch),
    room: (source) => router.room(source),
    gone(source) {
      prometheus.removeSource(source)
      for (const route of router.routes) route.retire(source)
    },
  })
}
