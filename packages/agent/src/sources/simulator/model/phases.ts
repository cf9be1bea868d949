import type { GpuModel } from '../classes/node-class.ts'
import { GPU_QUANTITIES } from './quantities.ts'

/** Parts of a step of training, in order. `wait` is empty on the slowest GPU of a healthy node. */
export const PHASES = ['data', 'forward', 'backward', 'wait', 'collective', 'optimizer'] as const

/** Share of each phase in a healthy step. Assumed, based on mean values in the literature. */
export const SHARE = { data: 0.01, forward: 0.31, backward: 0.57, collective: 0.06, optimizer: 0.05 } as const
/** Length of a healthy step of training. Unit: seconds. Never a multiple of a sampling period. */
export const STEP_S = 2.37
/** Length of a slot of inference, which starts with prefill and continues with decoding. Unit: seconds. */
export const SLOT_S = 0.4

/** Load of a GPU in an activity: shares of time and of its limits. */
export interface Activity {
  readonly util: number
  readonly engine: number
  readonly sm: number
  readonly occupancy: number
  readonly tensor: number
  readonly dram: number
  readonly fp32: number
  readonly fp16: number
  /** Share of the NVLink speed. */
  readonly nvlink: number
  /** Share of the power limit. Activities without a share have a fixed power in watts. */
  readonly power: number
  readonly watts?: (model: GpuModel) => number
  /** Copies from host memory. Unit: bytes per second. */
  readonly hostRxBytes: number
}

const NOTHING: Activity = {
  util: 0,
  engine: 0,
  sm: 0,
  occupancy: 0,
  tensor: 0,
  dram: 0,
  fp32: 0,
  fp16: 0,
  nvlink: 0,
  power: 0,
  hostRxBytes: 0,
}

const spinning = (model: GpuModel) => model.contextWatts + 0.08 * model.powerLimitWatts

/** Levels by activity: the phases of training and inference, and other states of a GPU. */
export const ACTIVITIES = {
  data: { ...NOTHING, util: 0.1, engine: 0.06, sm: 0.05, occupancy: 0.01, dram: 0.03, power: 0.25, hostRxBytes: 4e9 },
  forward: activity(0.96, 0.92, 0.23, 0.55, 0.33, 0.08, 0.03, 60 / 450, 0.93),
  backward: activity(0.97, 0.93, 0.24, 0.58, 0.36, 0.09, 0.03, 80 / 450, 0.97),
  wait: { ...activity(0.93, 0.12, 0.02, 0, 0.01, 0, 0, 0, 0), watts: spinning },
  collective: activity(0.93, 0.15, 0.04, 0, 0.12, 0.01, 0, 300 / 450, 0.38),
  optimizer: activity(0.95, 0.8, 0.3, 0, 0.85, 0.25, 0.01, 0, 0.62),
  prefill: activity(0.97, 0.95, 0.2, 0.6, 0.3, 0.07, 0.02, 60 / 450, 0.98),
  decode: activity(0.9, 0.65, 0.15, 0.08, 0.75, 0.05, 0.02, 40 / 450, 0.5),
  checkpoint: {
    ...NOTHING,
    util: 0.15,
    engine: 0.1,
    sm: 0.02,
    occupancy: 0.01,
    dram: 0.02,
    watts: (model) => model.contextWatts + 0.05 * model.powerLimitWatts,
  },
  idle: { ...NOTHING, watts: (model) => model.idleWatts },
} as const satisfies Readonly<Record<string, Activity>>

/** Name of an activity of a GPU. */
export type ActivityName = keyof typeof ACTIVITIES

function activity(
  engine: number,
  sm: number,
  occupancy: number,
  tensor: number,
  dram: number,
  fp32: number,
  fp16: number,
  nvlink: number,
  power: number,
): Activity {
  return { util: 1, engine, sm, occupancy, tensor, dram, fp32, fp16, nvlink, power, hostRxBytes: 3e7 }
}

/** Power of an activity without limits. Unit: watts. */
export function wantedWatts(does: Activity, model: GpuModel): number {
  return does.watts?.(model) ?? does.power * model.powerLimitWatts
}

/**
 * Writes the levels of an activity into a vector by {@link GPU_QUANTITIES}; `load` is the share of the GPU in use. The
 * caller adds energy and throttling.
 */
export function writeLevels(levels: Float64Array, does: Activity, model: GpuModel, load: number): void {
  levels[GPU_QUANTITIES.util] = does.util
  levels[GPU_QUANTITIES.memoryCopy] = 0.9 * does.dram * load
  levels[GPU_QUANTITIES.engine] = does.engine * load
  levels[GPU_QUANTITIES.sm] = does.sm * load
  levels[GPU_QUANTITIES.occupancy] = does.occupancy * load
  levels[GPU_QUANTITIES.tensor] = does.tensor * load
  levels[GPU_QUANTITIES.dram] = does.dram * load
  levels[GPU_QUANTITIES.fp64] = 0.0005 * does.sm * load
  levels[GPU_QUANTITIES.fp32] = does.fp32 * load
  levels[GPU_QUANTITIES.fp16] = does.fp16 * load
  levels[GPU_QUANTITIES.nvlinkTxBytes] = does.nvlink * model.nvlinkBytesPerS
  levels[GPU_QUANTITIES.nvlinkRxBytes] = does.nvlink * model.nvlinkBytesPerS * 0.99
  levels[GPU_QUANTITIES.hostTxBytes] = does.hostRxBytes * 0.02
  levels[GPU_QUANTITIES.hostRxBytes] = does.hostRxBytes
}
