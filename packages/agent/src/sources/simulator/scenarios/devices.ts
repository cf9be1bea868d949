import { deviceName } from '../../pci-address.ts'
import type { NodeClass } from '../classes/node-class.ts'
import { STREAM, uniform } from '../model/hash.ts'
import type { Scenario, StruckDevice } from './scenario.ts'

/** Id of a device of a simulated node, as in page addresses: `sim-gpu-3`, `sim-nic-mlx5_3-1`. */
export function deviceId(node: NodeClass, { kind, index }: StruckDevice): string {
  return kind === 'gpu' ? `sim-gpu-${index}` : `sim-nic-${node.nics[index]?.device}-1`
}

/** Devices that a scenario can affect; none if it affects the whole node. */
export function targetsOf(node: NodeClass, scenario: Scenario): StruckDevice[] {
  const { target, alsoTarget, fits = isOfJob } = scenario
  const wanted = [target, alsoTarget].flatMap((kind) => devicesOf(node).filter((device) => device.kind === kind))
  return wanted.filter((device) => fits(node, device))
}

function devicesOf({ gpus, nics }: NodeClass): StruckDevice[] {
  const of = (kind: StruckDevice['kind'], places: readonly { readonly index: number }[]) =>
    places.map(({ index }): StruckDevice => ({ kind, index }))
  return [...of('gpu', gpus), ...of('nic', nics)]
}

function isOfJob({ nics }: NodeClass, { kind, index }: StruckDevice): boolean {
  return kind === 'gpu' || nics[index]?.role === 'training'
}

/** Finds a device by its id, with or without `sim-`, or by its PCI address; a NIC also by its RDMA device. */
export function findDevice(node: NodeClass, name: string): StruckDevice | undefined {
  return devicesOf(node).find((device) => {
    const id = deviceId(node, device)
    const [nic, gpu] = [node.nics[device.index], node.gpus[device.index]]
    const [short, address] = device.kind === 'nic' ? [nic?.device, nic?.address] : [undefined, gpu?.address]
    return name === id || `sim-${name}` === id || name === short || deviceName(name) === address
  })
}

/** Device of a scenario if the request names none and all are free. */
export function usualDevice(node: NodeClass, scenario: Scenario): StruckDevice | undefined {
  const targets = unnamedTargets(node, scenario)
  return targets.find(({ index }) => index === scenario.usualIndex) ?? targets.at(-1)
}

/** Input for the choice of a device if the request names none. */
export interface Draw {
  readonly seed: number
  /** Number of scenarios started before. */
  readonly started: number
  /** Whether another scenario affects the device with this id. */
  readonly isTaken: (id: string) => boolean
}

/**
 * Chooses a device: the usual device if it is free; otherwise a free device that depends on seed and start; the usual
 * device if none is free.
 */
export function freeDevice(node: NodeClass, scenario: Scenario, draw: Draw): StruckDevice | undefined {
  const usual = usualDevice(node, scenario)
  const { seed, started, isTaken } = draw
  const free = unnamedTargets(node, scenario).filter((device) => !isTaken(deviceId(node, device)))
  if (usual === undefined || free.length === 0 || free.some(({ index }) => index === usual.index)) return usual
  return free[Math.floor(uniform(seed, STREAM.places, 0, started) * free.length)]
}

function unnamedTargets(node: NodeClass, scenario: Scenario): StruckDevice[] {
  return targetsOf(node, scenario).filter(({ kind }) => kind === scenario.target)
}
