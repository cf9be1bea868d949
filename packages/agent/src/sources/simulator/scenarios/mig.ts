import { onDevice, type Scenario } from './scenario.ts'

/** Sizes of the instances in sevenths, by their number. */
const SPLITS: Readonly<Record<number, readonly number[]>> = {
  2: [4, 3],
  3: [3, 3, 1],
  4: [2, 2, 2, 1],
  5: [2, 2, 1, 1, 1],
  6: [2, 1, 1, 1, 1, 1],
  7: [1, 1, 1, 1, 1, 1, 1],
}
/** Load of the instances in order: the first is busy, the others have less and less load. */
const LOADS = [1, 0.5, 0.2, 0.1]
/** Memory is divided into eighths: three sevenths and four sevenths of the GPU both get four. */
const EIGHTHS = [0, 1, 2, 4, 4]

/** 4.18: a GPU that MIG splits. */
export const mig: Scenario = {
  name: 'mig',
  summary: 'One GPU is split into MIG instances: use and memory are told for each, power and heat for all together',
  target: 'gpu',
  usualIndex: 0,
  severity: { unit: 'instances', min: 2, max: 7, default: 3 },
  durationS: 600,
  fits: (node, { index }) => node.gpus[index]?.model.hasMig === true && node.gpus[index]?.mig === undefined,
  effects: (strike) => {
    const { node, device, onsetS, endS, severity } = strike
    const { memoryMiB = 0, reservedMiB = 0 } = node.gpus[device.index]?.model ?? {}
    const memoryGb = Math.round((memoryMiB + reservedMiB) / 1024)
    const slices = SPLITS[Math.round(severity)] ?? [7]
    const instances = slices.map((sevenths, at) => {
      const gb = Math.round((memoryGb * (EIGHTHS[sevenths] ?? sevenths)) / 8)
      return { profile: `${sevenths}g.${gb}gb`, load: LOADS[at] ?? 0 }
    })
    return { spans: [onDevice(strike, onsetS, endS, { mig: instances })] }
  },
}
