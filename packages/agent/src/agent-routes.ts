import type { Batch, Sink } from '@sonde/sdk'
import { type FollowedSets, openDestination, Route } from '@sonde/sdk/internal'
import { type AgentConfig, destinationsOf } from './config.ts'

/** `/metrics` leaves out records that other exporters export, and so do the facts about their devices. */
export function metricsRoutes({ dataSources }: AgentConfig, sinks: readonly Sink[]): Route[] {
  const sources = new Map(dataSources.filter(({ definition }) => definition.isExported).map((one) => [one.name, one]))
  const leavesOut = ({ origin, source, type }: Batch) => {
    const { definition, options = {} } = (origin === 'own' ? sources.get(source.id) : undefined) ?? {}
    return definition?.isExported?.(options, type.name) === false
  }
  return sinks.map((sink) => new Route(sink, sources.size === 0 ? {} : { leavesOut }))
}

/** The ways to the agent's own views and to history, which do not have the types for export. */
export function viewRoutes({ dataSources }: AgentConfig, views: readonly Sink[]): Route[] {
  const types = new Set(dataSources.flatMap(({ definition }) => definition.exportTypes ?? []).map(({ name }) => name))
  const options =
    types.size === 0 ? {} : { leavesOut: ({ origin, type }: Batch) => origin === 'own' && types.has(type.name) }
  return views.map((sink) => new Route(sink, options))
}

/** The ways to the destinations. Their drops are reported with those of all sinks. */
export function destinationRoutes(config: AgentConfig, version: string, sets: FollowedSets): Route[] {
  const context = { schema: 'sonde', version, types: [] }
  return destinationsOf(config).map((destination) => openDestination(destination, context, (set) => sets.follow(set)))
}
