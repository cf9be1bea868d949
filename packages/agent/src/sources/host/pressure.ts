import type { ExplainFailure } from '../attribute-reader.ts'
import { partOf } from './file-part.ts'
import { parsePressure } from './parse.ts'
import type { HostPartDefinition } from './part.ts'
import { hostPressureType } from './type.ts'

/** Resources whose pressure kernels report. */
export const PRESSURE_RESOURCES = ['cpu', 'memory', 'io', 'irq'] as const

/** Explains missing pressure. A kernel that was built with PSI and started without it answers EOPNOTSUPP. */
export const explainPressure: ExplainFailure = ({ kind, words }) => {
  if (kind === 'missing') return `${words}: this kernel does not measure that pressure`
  if (kind === 'unsupported') return 'the kernel was started without pressure stall information; psi=1 turns it on'
  return words
}

/** How long tasks waited for each resource; each resource has a file. */
export const pressure: HostPartDefinition = {
  types: [hostPressureType],
  create(reader) {
    const files = PRESSURE_RESOURCES.map((resource) =>
      partOf(reader, {
        type: hostPressureType,
        path: ['pressure', resource],
        parse: parsePressure,
        labels: { resource },
        explain: explainPressure,
      }),
    )
    return { sample: (time) => files.filter((file) => file.sample(time)).length > 0 }
  },
}
