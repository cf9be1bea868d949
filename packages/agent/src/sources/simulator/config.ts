import * as v from 'valibot'
import { NODE_CLASSES } from './classes/classes.ts'

/** Names of the kinds of node. */
export const CLASS_NAMES = NODE_CLASSES.map(({ name }) => name)

/** Options of the simulator in `data_sources`. */
export const simulatorOptions = v.strictObject({
  seed: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(0xffffffff),
      v.description('Decides everything that is random: the same seed gives the same node, to the byte'),
    ),
    1,
  ),
  node_class: v.optional(v.pipe(v.picklist(CLASS_NAMES), v.description('Kind of node')), 'hgx-h100'),
  workload: v.optional(
    v.pipe(v.picklist(['training', 'inference']), v.description('What the GPUs do where no scenario says otherwise')),
    'training',
  ),
})

/** What {@link simulatorOptions} gives. */
export type SimulatorOptions = v.InferOutput<typeof simulatorOptions>
