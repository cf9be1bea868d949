import { docaTelemetryAdpRetx } from '../doca-telemetry-adp-retx/doca-telemetry-adp-retx.ts'
import { docaTelemetryDiag } from '../doca-telemetry-diag/doca-telemetry-diag.ts'
import { docaTelemetryDpa } from '../doca-telemetry-dpa/doca-telemetry-dpa.ts'
import { docaTelemetryPcc } from '../doca-telemetry-pcc/doca-telemetry-pcc.ts'
import { docaTelemetryPci } from '../doca-telemetry-pci/doca-telemetry-pci.ts'
import { docaTelemetryPhy } from '../doca-telemetry-phy/doca-telemetry-phy.ts'
import type { SourceDefinition } from '../source.ts'

/** All sources that use the DOCA libraries. Their child process finds them here by name. */
export const SOURCES: readonly SourceDefinition[] = [
  docaTelemetryAdpRetx,
  docaTelemetryDiag,
  docaTelemetryDpa,
  docaTelemetryPcc,
  docaTelemetryPci,
  docaTelemetryPhy,
]
