import { showView } from "./view.ts";

showView(document.body);
