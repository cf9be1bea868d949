import { cpus, release, totalmem } from 'node:os'
import type { NodeAnswer, StoreAnswer } from '@sonde/sdk/api'
import { droppedTotal, sondeCommand } from '@sonde/sdk/internal'
import type { Agent } from '../agent.ts'
import { countWords } from '../devices/words.ts'
import { isSimulatedSeries } from '../devices/world.ts'
import { latestSeries } from '../pipeline/latest.ts'

const NO_STORE: StoreAnswer = {
  state: 'none',
  reason: '',
  bytes: 0,
  oldestMs: null,
  ackedMs: 0,
  queuedBytes: 0,
  errors: 0,
  corruptChunks: 0,
  backlogBytes: 0,
}

/** Interfaces of the host itself: those of a simulated node are none of it. */
function realInterfaces({ recent }: Agent): number {
  return latestSeries(recent, { metric: 'netdev_up' }).filter(({ labels }) => !isSimulatedSeries(labels)).length
}

function describeService({ service }: Agent): NodeAnswer['service'] {
  if (service === undefined) return { state: 'off', reason: '', socketsDir: '', ack: 'memory', clientCount: 0 }
  const { clients, ...status } = service.status()
  return { ...status, clientCount: clients.length }
}

/** One look at the node, its agent and its store. */
export function describeNode(agent: Agent): NodeAnswer {
  const processors = cpus()
  const { prometheus, router, sources, options, service } = agent
  // A removed device is listed and counted for an hour, so that count and list agree.
  const listed = agent.devices.list().filter(({ host }) => host === agent.node)
  const present = listed.filter(({ goneMs }) => goneMs === undefined)
  // If there is a real and a simulated node, this describes the real node.
  const real = listed.filter(({ isSimulated }) => !isSimulated)
  const told = real.some(({ kind }) => kind === 'gpu' || kind === 'nic') ? real : listed
  const gpus = told.filter(({ kind }) => kind === 'gpu')
  const nics = told.filter(({ kind }) => kind === 'nic')
  const counted = [...router.sinks, ...sources, ...(service === undefined ? [] : [service])]
  const lost = counted.reduce((sum, { stats }) => sum + droppedTotal(stats), 0)
  const certificate = options.certificate?.()
  return {
    node: agent.node,
    version: options.version,
    startedMs: agent.startedMs,
    ...(certificate === undefined ? {} : { certificate }),
    nowMs: Date.now(),
    hardware: {
      cpuModel: processors[0]?.model ?? 'unknown',
      cpuCount: processors.length,
      memoryBytes: totalmem(),
      interfaceCount: realInterfaces(agent),
      kernel: release(),
      gpuCount: gpus.length,
      nicCount: nics.length,
      gpus: countWords(gpus),
      nics: countWords(nics),
    },
    seriesCount: prometheus.seriesCount,
    recordsLost: lost,
    simulated:
      present.some(({ isSimulated }) => isSimulated) ||
      sources.some(({ definition }) => definition.labels?.simulated === 'true'),
    command: sondeCommand(),
    store: options.storeStatus?.() ?? NO_STORE,
    service: describeService(agent),
  }
}
