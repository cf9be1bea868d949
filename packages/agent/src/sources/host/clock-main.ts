// A child process that asks the kernel about its clock, writes the answer and ends: code of foreign libraries stays out
// of the agent.

import { readClock } from '../../native/clock.ts'

process.stdout.write(JSON.stringify(readClock()))
