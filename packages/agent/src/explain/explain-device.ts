import type { ExplainWalk } from '@sonde/sdk/api'
import { walk } from '../sources/chains/chain.ts'
import { deviceName } from '../sources/pci-address.ts'
import { gpuSubject } from '../sources/scraping/subjects.ts'
import type { SourceDefinition } from '../sources/source.ts'
import type { DeviceFacts } from './agent-facts.ts'
import { heldStep, reportedStep } from './agent-steps.ts'
import type { ExplainOptions } from './explanation.ts'
import { sourceChain } from './source-chain.ts'
import { SIMULATOR, type SourceSubject } from './subject.ts'

/** Chains of a device, found by its name, id or address; none if no device has that name. */
export async function deviceChains(
  of: string,
  subjects: readonly SourceSubject[],
  options: ExplainOptions,
): Promise<ExplainWalk[]> {
  const listed = await listedDeviceChains(of, of, subjects, options)
  if (listed.length > 0) return listed
  const known = await options.facts?.devices()
  const called = deviceName(of)
  const device = known?.find(({ id, name }) => id === of || name === called)
  if (device !== undefined) return knownDeviceChains(of, device, subjects, options)
  // Without an agent, only the prefix shows that a device is simulated.
  return known === undefined && of.startsWith('sim-') ? simulatedChains(of, of, subjects, options) : []
}

/** Chains of a device that the kernel lists. */
async function listedDeviceChains(
  of: string,
  name: string,
  subjects: readonly SourceSubject[],
  options: ExplainOptions,
): Promise<ExplainWalk[]> {
  const chains: ExplainWalk[] = []
  for (const subject of subjects) {
    const devices = (await subject.definition.explain?.devices(options.context)) ?? []
    const called = deviceName(name)
    const wanted = devices.filter((device) => device.name === called || device.aliases.includes(called))
    if (wanted.length > 0) chains.push(await sourceChain(of, subject, wanted, options))
  }
  // Sources that are switched off are only shown if no running source lists the device.
  const running = chains.filter(({ source }) => options.configured.some(({ name: own }) => own === source))
  return running.length > 0 ? running : chains
}

/** Chains of devices that only a running agent knows: simulated devices, GPUs by number, and devices that left. */
async function knownDeviceChains(
  of: string,
  device: DeviceFacts,
  subjects: readonly SourceSubject[],
  options: ExplainOptions,
): Promise<ExplainWalk[]> {
  const { id, kind, name, address, series, simulated } = device
  if (simulated) return simulatedChains(of, id, subjects, options)
  const place = kind === 'gpu' ? address : name
  const listed = await listedDeviceChains(of, place, subjects, options)
  if (listed.length > 0) return listed
  // Only the bus may report a GPU. Then the source that reads the bus explains it.
  const [telling = []] = [kind, ...Object.keys(series)]
    .map((one) => subjects.filter(({ definition }) => definition.name !== SIMULATOR && isDefining(definition, one)))
    .filter(({ length }) => length > 0)
  if (telling.length === 0) return [await reportedChain(of, device, options)]
  return Promise.all(
    telling.map((subject) => {
      const isThere = subject.definition.explain === undefined && device.goneMs === undefined
      return sourceChain(
        of,
        subject,
        isThere ? [{ name: id, aliases: [name], claims: deviceClaims(device) }] : [],
        options,
        isThere ? {} : { left: device },
      )
    }),
  )
}

/** The keys with which exporters claim a device. */
function deviceClaims({ kind, labels, address, host = '' }: DeviceFacts): readonly string[] {
  if (kind !== 'gpu') return []
  const { UUID = '', gpu = '', Hostname = '', pci_address = address } = labels
  return gpuSubject({ UUID, gpu, Hostname: Hostname || host, pci_bus_id: pci_address }).keys
}

function isDefining({ types }: SourceDefinition, kind: string): boolean {
  return types.some(({ entity }) => entity?.defines === true && entity.kind === kind)
}

/** An entity that no source defines is reported by an application. */
async function reportedChain(
  of: string,
  device: DeviceFacts,
  { facts, agentPlace }: ExplainOptions,
): Promise<ExplainWalk> {
  const held = facts === undefined ? [] : [heldStep(facts, await facts.types(), device.id)]
  return {
    of,
    source: device.source,
    device: device.name,
    links: await walk([reportedStep(device, agentPlace), ...held]),
  }
}

function simulatedChains(
  of: string,
  id: string,
  subjects: readonly SourceSubject[],
  options: ExplainOptions,
): Promise<ExplainWalk[]> {
  const simulators = subjects.filter(({ definition }) => definition.name === SIMULATOR)
  return Promise.all(simulators.map((subject) => sourceChain(of, subject, [{ name: id, aliases: [] }], options)))
}
