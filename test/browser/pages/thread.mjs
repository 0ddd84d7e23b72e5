import { serveThread } from "zarrflow/worker";

serveThread();
