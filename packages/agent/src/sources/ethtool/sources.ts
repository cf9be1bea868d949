import { podNics } from '../pod-nics/pod-nics.ts'
import type { SourceDefinition } from '../source.ts'
import { ethtool } from './ethtool.ts'

/**
 * The sources of the child process that asks network drivers.
 *
 * @public
 */
export const SOURCES: readonly SourceDefinition[] = [ethtool, podNics]
