import type { NodeClass } from '../classes/node-class.ts'
import type { Scenario, StruckDevice, Target } from './scenario.ts'

/** Id of a device of a simulated node, as in addresses of pages: `sim-gpu-3`, `sim-nic-mlx5_3-1`. */
export function deviceId(node: NodeClass, { kind, index }: StruckDevice): string {
  return kind === 'gpu' ? `sim-gpu-${index}` : `sim-nic-${node.nics[index]?.device}-1`
}

/** Devices that a scenario can happen to; none where it happens to the node. */
export function targetsOf(node: NodeClass, scenario: Scenario): StruckDevice[] {
  const kinds: (Target | undefined)[] = [scenario.target, scenario.alsoTarget]
  const nics = node.nics.map(({ index }): StruckDevice => ({ kind: 'nic', index }))
  const gpus = node.gpus.map(({ index }): StruckDevice => ({ kind: 'gpu', index }))
  const wanted = kinds.flatMap((kind) => (kind === 'nic' ? nics : kind === 'gpu' ? gpus : []))
  const fits = scenario.fits ?? isOfJob
  return wanted.filter((device) => fits(node, device))
}

function isOfJob({ nics }: NodeClass, { kind, index }: StruckDevice): boolean {
  return kind === 'gpu' || nics[index]?.role === 'training'
}

/** The device with an id, with or without `sim-`; a NIC is known by the name of its RDMA device too. */
export function findDevice(node: NodeClass, name: string): StruckDevice | undefined {
  const all: StruckDevice[] = [
    ...node.gpus.map(({ index }): StruckDevice => ({ kind: 'gpu', index })),
    ...node.nics.map(({ index }): StruckDevice => ({ kind: 'nic', index })),
  ]
  return all.find((device) => {
    const id = deviceId(node, device)
    const short = device.kind === 'nic' ? node.nics[device.index]?.device : undefined
    return name === id || `sim-${name}` === id || name === short
  })
}

/** The device that a scenario happens to where none is named. */
export function usualDevice(node: NodeClass, scenario: Scenario): StruckDevice | undefined {
  const targets = targetsOf(node, scenario).filter(({ kind }) => kind === scenario.target)
  return targets.find(({ index }) => index === scenario.usualIndex) ?? targets.at(-1)
}
