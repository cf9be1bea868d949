import { docaTelemetryAdpRetx } from '../doca-telemetry-adp-retx/doca-telemetry-adp-retx.ts'
import { docaTelemetryDiag } from '../doca-telemetry-diag/doca-telemetry-diag.ts'
import type { SourceDefinition } from '../source.ts'

/**
 * All sources that read by the DOCA libraries: what their child process looks them up in.
 */
export const SOURCES: readonly SourceDefinition[] = [docaTelemetryAdpRetx, docaTelemetryDiag]
