import type { Command } from 'commander'
import type { SimulateFlags } from './config/simulate.ts'

/** Options of commands. Some exist for `up` only. */
export interface Flags extends SimulateFlags {
  readonly config?: string
  readonly listen?: string
  readonly logLevel?: string
  readonly 'path.procfs'?: string
  readonly 'path.sysfs'?: string
  readonly dataDir?: string
  readonly prometheus?: string
}

/** Adds the common options to a command. */
export function withCommonFlags(command: Command): Command {
  return command
    .option('--config <file>', 'configuration file (YAML)')
    .option('--listen <host:port>', 'where to listen: 0.0.0.0:9394 for all; :9394 keeps to loopback')
    .option('--data-dir <dir>', 'where history, events, files and keys are kept')
    .option('--log-level <level>', 'fatal, error, warn, info, debug or trace')
    .option('--path.procfs <dir>', 'root of the procfs that is read')
    .option('--path.sysfs <dir>', 'root of the sysfs that is read')
}

/** Adds the options of the simulator to a command that runs or inspects sources. */
export function withSimulateFlags(command: Command): Command {
  return command
    .option('--simulate [scenarios]', 'add a simulated node; NAME[@DEVICE[:SEVERITY[:DELAY]]],… begin 10 s later')
    .option('--only-simulated', 'the simulated node alone, without real sources')
    .option('--seed <number>', 'what the simulated node is made of; default: 1')
    .option('--simulate-class <class>', 'kind of simulated node; default: hgx-h100')
}
