import { SondeError } from '@sonde/sdk'

/** Everything wrong with a configuration: one line each, with place, value and what is allowed. Exit code 2. */
export class ConfigError extends SondeError {
  readonly lines: readonly string[]

  constructor(lines: readonly string[]) {
    super('CFG_INVALID', lines.join('\n'))
    this.lines = lines
  }
}
