import type { Scenario } from './scenario.ts'

/** 4.11: the power limit of all GPUs is lowered. */
export const powerCap: Scenario = {
  name: 'power-cap',
  summary: 'The power limit of every GPU is lowered: clocks fall, and steps take longer',
  target: 'node',
  usualIndex: 0,
  severity: { unit: 'share of the power limit', min: 0.3, max: 0.95, default: 0.714 },
  durationS: 180,
  effects: ({ node, onsetS, endS, severity }) => {
    const limits = node.gpus.map(({ index, model }) => {
      const watts = Math.max(model.powerLimitMinWatts, Math.round(severity * model.powerLimitWatts))
      return [index, { powerLimitWatts: watts }] as const
    })
    return { spans: [{ fromS: onsetS, toS: endS, gpus: Object.fromEntries(limits) }] }
  },
}
