#!/usr/bin/env node
import { messageOf, SondeError } from '@sonde/sdk'
import { Command, CommanderError } from 'commander'
import { untilSignal } from './commands/until-signal.ts'
import { ConfigError } from './config/load.ts'
import { type CommonFlags, loadFor, withCommonFlags } from './flags.ts'
import { VERSION } from './version.ts'

const program = new Command('sonde')
  .description('Watches the hardware under AI workloads: GPUs, NICs, PCIe, hosts.')
  .version(VERSION)
  .exitOverride()
  .configureHelp({ showGlobalOptions: false })

withCommonFlags(program.command('up').description('agent, store and page in one process'))
  .option('--data-dir <dir>', 'where history is kept')
  .action(async (flags: CommonFlags) => {
    const loaded = loadFor(flags)
    process.exit(await untilSignal((await import('./commands/up.ts')).runUp(loaded)))
  })

withCommonFlags(program.command('agent').description('sources, /metrics and the API of this node')).action(
  async (flags: CommonFlags) => {
    const loaded = loadFor(flags)
    process.exit(await untilSignal((await import('./commands/agent.ts')).runAgent(loaded)))
  },
)

withCommonFlags(program.command('config').description('print the configuration and the origin of each value'))
  .option('--schema', 'print its JSON Schema, for editors')
  .action(async (flags: CommonFlags & { schema?: boolean }) => {
    const { printConfig, printSchema } = await import('./commands/config.ts')
    console.log(flags.schema === true ? await printSchema() : printConfig(loadFor(flags)))
  })

withCommonFlags(program.command('check').description('check the configuration and what can be read here')).action(
  async (flags: CommonFlags) => {
    const { check } = await import('./commands/check.ts')
    process.exitCode = await check(loadFor(flags))
  },
)

program.parseAsync().catch((error: unknown) => {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2)
  if (error instanceof ConfigError) {
    for (const line of error.lines) console.error(`sonde: ${line}`)
    process.exit(2)
  }
  console.error(`sonde: ${messageOf(error)}`)
  process.exit(error instanceof SondeError && error.code === 'CLI_LISTEN' && !error.cause ? 2 : 1)
})
